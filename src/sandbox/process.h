// Ends of processes: signals by descriptor, as a process number could by now be another's, and
// children of ours that may not end when they are told to.
#pragma once

#include <poll.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

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
inline constexpr int kEndRequest = SIGTERM;
inline void end_process(int process, bool by_request) {
  if (!by_request) {
    send_signal(process, SIGKILL);
    return;
  }
  send_signal(process, kEndRequest);
  send_signal(process, SIGCONT);  // it may have been stopped
}

// After end_process(): whether it has ended. One that does not hear its request is killed, alone.
inline bool has_ended_or_is_killed(int process, bool by_request) {
  constexpr int kPatienceMs = 5'000;
  pollfd end{process, POLLIN, 0};
  if (!by_request || ::poll(&end, 1, kPatienceMs) != 0) return true;
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
