// SPDX-License-Identifier: Apache-2.0

// ReadyTools: prewarmed tools for the next program of code mode, started while no client waits.
//
// A warden with an analyzer and a compiler that have read all but the program, a linker and a
// runner (run/prewarmed_run.h). One set for a gateway, like the last program that was
// compiled; a program that it does not fit starts its own. What is not taken in some minutes goes:
// it holds memory. Made on a thread of its own, which outlives all that it made: the kernel ends a
// warden with the thread that started it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "core/error.h"
#include "gateway/code_mode/granted_view.h"
#include "project/project.h"
#include "run/prewarmed_run.h"
#include "run/run_limits.h"

namespace mcpac::gateway::code_mode {

class ReadyTools {
 public:
  struct Program {
    std::shared_ptr<const GrantedView::Ready> view;  // of its client
    std::set<std::string> servers;                   // whose tools it may call
    run::RunLimits limits;
  };

  explicit ReadyTools(project::Folders folders,
                      std::chrono::milliseconds idle = std::chrono::minutes(5));
  // Nothing that was taken may be in use any more.
  ~ReadyTools();
  ReadyTools(const ReadyTools&) = delete;
  ReadyTools& operator=(const ReadyTools&) = delete;

  // From any thread; both return at once. For one program of the client with this view; null:
  // nothing is ready for it.
  [[nodiscard]] std::unique_ptr<run::PrewarmedRun> take(const GrantedView::Ready& view);
  // For another program like this one.
  void prepare(Program program);
  // For another like the one that the last were made for.
  void prepare_again();

 private:
  using Lock = std::unique_lock<std::mutex>;
  void work(const std::stop_token& stop);
  void make(Lock& lock, const std::stop_token& stop);
  void drop(Lock& lock);

  project::Folders folders_;
  std::chrono::milliseconds idle_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Program> wanted_;
  std::optional<Program> last_;  // what `ready_` was made for
  std::unique_ptr<run::PrewarmedRun> ready_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace mcpac::gateway::code_mode
