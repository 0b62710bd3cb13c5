// A piece of a test in a process of its own.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace resident_test {

// Whether `work` said true there. It must not use the test framework.
template <class Work>
bool holds_in_child(Work work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work() ? 0 : 1);
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

}  // namespace resident_test
