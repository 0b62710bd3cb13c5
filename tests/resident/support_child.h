// A piece of a test in a process of its own.
#pragma once

#include <doctest/doctest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace resident_test {

// Whether `work` said true there. It must not use the test framework. Who hangs is no true.
template <class Work>
bool holds_in_child(Work work) {
  constexpr unsigned kGuard = 120;  // seconds, against waiting for ever
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kGuard);
    ::_exit(work() ? 0 : 1);
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

// A process that does `work`, says whether that went well, and then waits until this value goes.
class Waiting {
 public:
  template <class Work>
  explicit Waiting(Work work) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const char said = work() ? '+' : '-';
      if (::write(ends[1], &said, 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    ::close(ends[1]);
    char said = 0;
    went_well_ = ::read(ends[0], &said, 1) == 1 && said == '+';
    ::close(ends[0]);
  }
  ~Waiting() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool went_well() const { return went_well_; }

 private:
  pid_t pid_ = -1;
  bool went_well_ = false;
};

// These tests make processes stand otherwise; where this process stands alone itself, or is the
// nicest already, there is nothing to compare.
inline bool may_use_new_privileges() {
  return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0;
}

// Another scheduling policy: possible for everybody, however nice it is already.
inline bool change_priority() {
  const sched_param none{};
  return ::sched_setscheduler(0, SCHED_BATCH, &none) == 0;
}

inline bool change_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur -= 1;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

inline bool stands_alone_here() {
  if (may_use_new_privileges()) return false;
  MESSAGE("skipped: under no_new_privs everybody stands alone");
  return true;
}

}  // namespace resident_test
