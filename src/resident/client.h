// Visit: what `execute` and `run` do when a resident host is up: have a worker do it, or learn that
// they work alone.
//
// Whatever is wrong with the host, the answer is to work alone: nothing has happened by then. Only
// once a worker has begun there is no way back, and its end is the end of the command.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "execute/project/project.h"
#include "resident/door.h"

namespace mcpac::resident {

struct Errand {
  execute::Folders folders;
  std::filesystem::path config_file;
  std::vector<std::string> arguments;  // argv
};

class Visit {
 public:
  // Blocks until the worker has ended, or until it is clear that this process works alone.
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

 private:
  void ask(const Errand& errand);
  void wait();
  // Returns the last signal that was passed on; 0: none.
  int wait_for_end();

  std::optional<Connection> connection_;
  std::optional<Result<int>> outcome_;
  std::string why_alone_;
};

// One question ({"do": "show"}) and its answer. kRunUnreachable; nothing where no host is up.
[[nodiscard]] Result<std::optional<Json>> ask_host(const std::filesystem::path& folder,
                                                   const Json& question);
// Tells the host to end and waits until it has. False: none is up.
[[nodiscard]] Result<bool> end_host(const std::filesystem::path& folder);

}  // namespace mcpac::resident
