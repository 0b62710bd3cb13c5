// SPDX-License-Identifier: Apache-2.0

// Interrupt: Ctrl-C and its kin as a descriptor instead of a sudden death.
//
// While one exists, SIGINT, SIGTERM and SIGHUP do not end the process; they make descriptor()
// readable, so that a run can take down what it started: sandboxes, servers, temporary files. Make
// it before any thread starts (the signal mask is inherited). A run that goes on in a thread of a
// process that has other work is interrupted by a signal of its own, and looks at none of these.
#pragma once

#include <signal.h>

#include <chrono>
#include <future>
#include <initializer_list>
#include <optional>

#include "core/file.h"

namespace mcpac {

// Ends a wait early from outside: Ctrl-C. Readable means: stop.
struct StopSignal {
  int descriptor = -1;
};

class Interrupt {
 public:
  // With `stop`, of one run among several: it becomes readable when the run is to end. Borrowed.
  explicit Interrupt(std::optional<StopSignal> stop = std::nullopt);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  [[nodiscard]] StopSignal stop() const { return stop_ ? *stop_ : StopSignal{descriptor_.get()}; }
  // The signal that came, if one came (SIGTERM for a run that was told to stop). It stays pending:
  // every later wait ends at once, too.
  [[nodiscard]] std::optional<int> received() const;
  // The same where SIGHUP is no reason to end (it means reload): one that comes again
  // meanwhile is none either.
  [[nodiscard]] std::optional<int> received_but_hangup() const;
  // Marks this signal as handled, where it came: for a use of it other than to end.
  [[nodiscard]] bool take(int signal) const;

 private:
  [[nodiscard]] std::optional<int> pending_of(std::initializer_list<int> signals) const;

  std::optional<StopSignal> stop_;
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

}  // namespace mcpac
