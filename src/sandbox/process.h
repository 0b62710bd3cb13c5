// SPDX-License-Identifier: Apache-2.0

// Ends of processes: signals by descriptor, as a process number could by now be another's, and
// children of ours that may not end when they are told to.
#pragma once

#include <poll.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <vector>

namespace mcpac::sandbox {

// The raw call: glibc 2.36 declares pidfd_send_signal without C linkage. False: it has ended
// already.
inline bool send_signal(int process, int signal) {
  return ::syscall(SYS_pidfd_send_signal, process, signal, nullptr, 0) == 0;
}

// To the first process of a program that serves without a pid namespace (Plan::ends_by_request()):
// it kills all that came of the program, and then itself. Killed alone it would leave them behind.
// Not SIGTERM, which a server's group is sent: one of those that is pending would take the
// request's room, as standard signals do not queue.
inline constexpr int kEndRequest = SIGUSR2;
inline void end_process(int process, bool by_request) {
  if (!by_request) {
    send_signal(process, SIGKILL);
    return;
  }
  send_signal(process, kEndRequest);
  send_signal(process, SIGCONT);  // it may have been stopped
}

// After end_process(): whether it has ended by the deadline. One that does not hear its request is
// killed then, alone.
inline constexpr std::chrono::seconds kPatienceWithRequest{5};
inline bool has_ended_or_is_killed(int process, bool by_request,
                                   std::chrono::steady_clock::time_point deadline =
                                       std::chrono::steady_clock::now() + kPatienceWithRequest) {
  if (!by_request) return true;
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now())
            .count();
    pollfd end{process, POLLIN, 0};
    const int ready = ::poll(&end, 1, left > 0 ? static_cast<int>(left) : 0);
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) break;
  }
  send_signal(process, SIGKILL);
  return false;
}

// Kills a child of ours that may wait where no signal ends the wait (for a page of a file whose
// server hangs), and takes its end whenever it comes: at the latest with the next one that is given
// up. Called by one thread.
inline void give_up(pid_t child) {
  static std::vector<pid_t> children;
  std::erase_if(children, [](pid_t one) { return ::waitpid(one, nullptr, WNOHANG) != 0; });
  ::kill(child, SIGKILL);
  children.push_back(child);
}

}  // namespace mcpac::sandbox
