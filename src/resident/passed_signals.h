// PassedSignals: what a person or a supervisor says to a command whose work somebody else does.
#pragma once

#include <signal.h>

#include "core/file.h"

namespace mcpac::resident {

// SIGINT, SIGTERM, SIGHUP and a stop (Ctrl-Z) as a descriptor, while it exists; those that came and
// were not read go on to whoever waits next, with the mask as it was.
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
