// Ends of processes: signals by descriptor, as a process number could by now be somebody else's,
// and children of ours that may not end when they are told to.
#pragma once

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
