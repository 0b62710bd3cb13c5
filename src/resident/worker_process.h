// SPDX-License-Identifier: Apache-2.0

// WorkerProcess: a prepared process of the resident host, and what it was prepared from.
//
// It serves one request and ends; the kernel kills it when the host dies (mcp/spawn.h), and with it
// its warden and servers. What it is told goes over one socket, its standard input until it takes
// over its client's.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "core/json.h"
#include "resident/standing.h"

namespace mcpac::resident {

// Inputs of a worker's preparation: of the last request with this key.
struct Plan {
  std::string key;
  std::string config_file;
  std::vector<std::string> environment;
  std::shared_ptr<const UniqueFd> folder;  // the working folder
  std::uint32_t umask = 0;
  std::set<std::string> servers;  // that the last run started
  std::chrono::steady_clock::time_point used{};
};

class WorkerProcess {
 public:
  // `program` is mcpac; what it says goes to the descriptor `log`.
  [[nodiscard]] static Result<WorkerProcess> start(const std::filesystem::path& program,
                                                   const Plan& plan, int log);

  [[nodiscard]] const Process& process() const { return process_; }
  [[nodiscard]] int channel() const { return channel_.get(); }  // -1: it said its last word
  void hang_up() { channel_.reset(); }
  // Hands it what it is to run; false: it has ended.
  [[nodiscard]] bool give(const Json& body, const std::vector<UniqueFd>& descriptors) const;
  // Its exit status, once it ended: an exit code, or a signal as a negative number. Reaps it.
  [[nodiscard]] std::optional<int> ended() const;

 private:
  WorkerProcess(Process process, UniqueFd channel)
      : process_(std::move(process)), channel_(std::move(channel)) {}
  Process process_;
  UniqueFd channel_;
};

// Bytes of memory that the process itself has resident; 0: not known.
[[nodiscard]] std::uint64_t memory_of(pid_t process);

}  // namespace mcpac::resident
