// SPDX-License-Identifier: Apache-2.0

#include "resident/passed_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace mcpac::resident {
namespace {

sigset_t passed_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  // A job that may not be stopped stays so.
  struct sigaction stop {};
  if (::sigaction(SIGTSTP, nullptr, &stop) == 0 && stop.sa_handler == SIG_DFL)
    sigaddset(&set, SIGTSTP);
  return set;
}

}  // namespace

PassedSignals::PassedSignals() {
  const sigset_t set = passed_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, &before_);
  descriptor_ = UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

PassedSignals::~PassedSignals() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int PassedSignals::next() const {
  signalfd_siginfo info{};
  const ssize_t n = ::read(descriptor_.get(), &info, sizeof info);
  return n == static_cast<ssize_t>(sizeof info) ? static_cast<int>(info.ssi_signo) : 0;
}

int end_by(int signal) {
  ::signal(signal, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  ::raise(signal);
  return 128 + signal;
}

}  // namespace mcpac::resident
