// Interrupt: Ctrl-C and its kin as a descriptor instead of a sudden death.
//
// While one exists, SIGINT, SIGTERM and SIGHUP do not end the process; they make descriptor()
// readable, so that a run can take down what it started: sandboxes, servers, temporary files. Make
// it before any thread starts (the signal mask is inherited).
#pragma once

#include <signal.h>

#include <chrono>
#include <future>
#include <optional>

#include "core/file.h"
#include "execute/build/stage.h"

namespace mcpac::execute {

class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  [[nodiscard]] StopSignal stop() const { return {descriptor_.get()}; }
  // The signal that came, if one came. It stays pending: every later wait ends at once, too.
  [[nodiscard]] std::optional<int> received() const;

 private:
  sigset_t before_{};
  UniqueFd descriptor_;
};

// Waits for `future` or an interrupt, whichever comes first; true: the future is ready.
template <class Future>
[[nodiscard]] bool wait_unless_stopped(const Future& future, const Interrupt& interrupt) {
  // Both are rare and long waits (a server's start), so a coarse look is enough.
  while (future.wait_for(std::chrono::milliseconds(2)) != std::future_status::ready) {
    if (interrupt.received()) return false;
  }
  return true;
}

}  // namespace mcpac::execute
