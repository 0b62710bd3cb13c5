// SPDX-License-Identifier: Apache-2.0

#include "sandbox/inherited.h"

#include <linux/keyctl.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

namespace mcpac::sandbox {
namespace {

// A real-time program, or one before all others, could keep its own host from ending it.
void become_ordinary_in_scheduling() {
  const int policy = ::sched_getscheduler(0);
  if (policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE) {
    const sched_param none{};
    ::sched_setscheduler(0, SCHED_OTHER, &none);
  }
  errno = 0;
  if (::getpriority(PRIO_PROCESS, 0) < 0 && errno == 0) ::setpriority(PRIO_PROCESS, 0, 0);
  constexpr int kProcess = 1;
  constexpr int kClassShift = 13;
  constexpr int kRealTime = 1;
  const long io = ::syscall(SYS_ioprio_get, kProcess, 0);
  if (io >= 0 && (io >> kClassShift) == kRealTime) ::syscall(SYS_ioprio_set, kProcess, 0, 0);
  ::prctl(PR_SET_TIMERSLACK, 0, 0, 0, 0);
}

// An exec keeps them, so the program before us in this process may have left some.
void stop_timers() {
  const itimerval none{};
  for (const auto timer : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF})
    ::setitimer(timer, &none, nullptr);
}

}  // namespace

void shed_inherited_state() {
  // No filter admits keyctl, but parts of the kernel look for keys by themselves. A kernel without
  // keys has none to shed.
  ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr, 0, 0, 0);
  // Among others: no addresses at random, readable memory that can be executed, memory at 0.
  ::personality(PER_LINUX);
  become_ordinary_in_scheduling();
  stop_timers();
}

}  // namespace mcpac::sandbox
