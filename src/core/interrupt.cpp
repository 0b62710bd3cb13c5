// SPDX-License-Identifier: Apache-2.0

#include "core/interrupt.h"

#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>

namespace mcpac {
namespace {

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  return set;
}

}  // namespace

Interrupt::Interrupt(std::optional<StopSignal> stop) : stop_(stop) {
  if (stop_) return;
  const sigset_t set = ending_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, &before_);
  descriptor_ = UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

Interrupt::~Interrupt() {
  if (stop_) return;
  // A signal that came is answered now; one that was not consumed would otherwise end us on the way
  // out.
  const timespec at_once{};
  const sigset_t set = ending_signals();
  while (::sigtimedwait(&set, nullptr, &at_once) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool Interrupt::take(int signal) const {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  const timespec at_once{};
  return ::sigtimedwait(&one, nullptr, &at_once) == signal;
}

std::optional<int> Interrupt::received() const {
  return pending_of({SIGINT, SIGTERM, SIGHUP});
}

std::optional<int> Interrupt::received_but_hangup() const {
  return pending_of({SIGINT, SIGTERM});
}

std::optional<int> Interrupt::pending_of(std::initializer_list<int> signals) const {
  if (stop_) {
    pollfd ready{stop_->descriptor, POLLIN, 0};
    return ::poll(&ready, 1, 0) > 0 ? std::optional(SIGTERM) : std::nullopt;
  }
  sigset_t pending;
  sigemptyset(&pending);
  ::sigpending(&pending);
  for (const int signal : signals) {
    if (sigismember(&pending, signal) == 1) return signal;
  }
  return std::nullopt;
}

}  // namespace mcpac
