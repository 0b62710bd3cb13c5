// SPDX-License-Identifier: Apache-2.0

// Visit: client side of `execute` and `run` at a resident host: a worker does the command, or it
// works alone.
//
// Whatever is wrong with the host, the answer is to work alone: nothing has happened by then. Only
// once this process said "go" (handshake.h) there is no way back, and the worker's end is the end
// of the command. A command that works alone anyway says so to the host, which lets go of the
// servers that it holds for the project.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "project/folders.h"
#include "resident/door.h"
#include "resident/patience.h"

namespace mcpac::resident {

struct Errand {
  project::Folders folders;
  std::filesystem::path config_file;
  std::vector<std::string> arguments{};  // argv
  enum class Wish : std::uint8_t { kWorker, kAlone } wish = Wish::kWorker;
};

class Visit {
 public:
  // Blocks until the worker has ended, or until it is clear that this process works alone: some
  // seconds at most where none begins. A signal that comes before one began is raised again.
  explicit Visit(const Errand& errand);
  ~Visit() = default;
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  // The exit code of the worker. Nothing: work alone. A worker that a signal ended ends this
  // process by the same one. kRunUnreachable: the host was lost in the middle of a run.
  [[nodiscard]] const std::optional<Result<int>>& outcome() const { return outcome_; }
  // Why alone; empty where no host is up.
  [[nodiscard]] const std::string& why_alone() const { return why_alone_; }
  // While this lives the host prepares nothing in the project; the next worker starts these.
  void used(const std::set<std::string>& servers) const;

  // Of bin/mcpac, which asks, and of all of mcpac, which it becomes where no worker did the work
  // (exec_handover.cpp). Says to the program that this process becomes by exec() what came of the
  // visit; where it cannot, that one asks anew.
  void hand_over();
  // In that program: null where no visit began before. Once, and before there are other threads.
  [[nodiscard]] static std::unique_ptr<Visit> taken_over();
  // Clears hand-over variables that another process put into our environment.
  static void forget_handover();

 private:
  Visit() = default;
  [[nodiscard]] static std::unexpected<Error> lost_in_a_run();
  [[nodiscard]] bool ask(const Errand& errand);
  [[nodiscard]] bool announce(const Errand& errand);
  // Both return the last signal that came; 0: none.
  int wait_for_end(std::chrono::milliseconds until_it_begins);
  int work_alone(std::string why, int signal);
  void begin();
  [[nodiscard]] bool hear_host();

  std::optional<Connection> connection_;
  UniqueFd channel_;  // to the worker, until it begins
  bool has_begun_ = false;
  std::optional<Result<int>> outcome_;
  std::string why_alone_;
};

// One question ({"do": "show"}) and its answer. kRunUnreachable; nothing where no host is up.
[[nodiscard]] Result<std::optional<Json>> ask_host(const std::filesystem::path& folder,
                                                   const Json& question);
// Longer than the host gives a run.
inline constexpr std::chrono::milliseconds kUntilItIsGone =
    kUntilARunEnds + std::chrono::seconds(5);

// Tells the host to end and waits until it has; kills it where it does not. Also one that stands
// otherwise than this process. False: none is up. kRunUnreachable: it cannot be signalled.
[[nodiscard]] Result<bool> end_host(const std::filesystem::path& folder,
                                    std::chrono::milliseconds until_it_is_killed = kUntilItIsGone);

}  // namespace mcpac::resident
