// SPDX-License-Identifier: Apache-2.0

// PassedSignals: forwards signals from a person or a supervisor to the worker of a command.
#pragma once

#include <signal.h>

#include "core/file.h"

namespace mcpac::resident {

// SIGINT, SIGTERM, SIGHUP and a stop (Ctrl-Z) as a descriptor, while it exists; those that came and
// were not read go on to the next waiter, with the mask as it was.
class PassedSignals {
 public:
  PassedSignals();
  ~PassedSignals();
  PassedSignals(const PassedSignals&) = delete;
  PassedSignals& operator=(const PassedSignals&) = delete;
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  // 0: none has come.
  [[nodiscard]] int next() const;

 private:
  sigset_t before_{};
  UniqueFd descriptor_;
};

// Ends this process as the signal would, for a shell to see. Returns only where it is ignored.
int end_by(int signal);

}  // namespace mcpac::resident
