// Every number there is, called with zeros, held against one table; and the same by other doors.
#include <doctest/doctest.h>
#include <seccomp.h>
#include <signal.h>

#include <map>
#include <sstream>

#include "hostile/support_matrix.h"
#include "sandbox/support_sandbox.h"

namespace mcpac::hostile {
namespace {

constexpr int kNumbers = 480;  // some beyond the last of Linux 6.18
constexpr int kX32 = 0x40000000;

// What does not end the program. An errno other than EACCES, EPERM and ENOSYS is the kernel's
// answer to zeros: the call is admitted.
const std::map<std::string, std::string>& calls_table() {
  static const std::map<std::string, std::string> endings{
      {"works",
       "read write close poll lseek mprotect brk readv writev sched_yield madvise getpid "
       "exit gettimeofday sigaltstack gettid time set_tid_address clock_getres "
       "exit_group prlimit64 getcpu getrandom"},
      {"EFAULT", "fstat nanosleep futex clock_gettime clock_nanosleep"},
      {"EINVAL",
       "munmap rt_sigaction rt_sigprocmask mremap arch_prctl sched_getaffinity "
       "set_robust_list rseq"},
      {"EINTR", "restart_syscall"},
      {"ENOTSOCK", "sendto recvfrom"},
      {"signal 11", "rt_sigreturn"},
      {"timed out", "select pselect6 ppoll"},
      {"EACCES",
       "open stat lstat access truncate ftruncate getdents getcwd chdir fchdir rename "
       "mkdir rmdir creat link unlink symlink readlink chmod fchmod chown fchown lchown "
       "umask utime mknod statfs fstatfs getdents64 utimes openat mkdirat mknodat "
       "fchownat futimesat newfstatat unlinkat renameat linkat symlinkat readlinkat "
       "fchmodat faccessat utimensat fallocate renameat2 statx openat2 faccessat2"},
      {"EPERM",
       "pread64 pwrite64 pipe msync mincore dup dup2 pause getitimer alarm setitimer "
       "sendfile socket connect accept sendmsg recvmsg shutdown bind listen getsockname "
       "getpeername socketpair setsockopt getsockopt clone fork vfork execve wait4 kill "
       "fcntl flock fsync fdatasync getrlimit getuid getgid geteuid getegid setpgid "
       "getppid getpgrp setsid getgroups getresuid getresgid getpgid getsid "
       "rt_sigpending rt_sigtimedwait rt_sigsuspend getpriority setpriority "
       "sched_setparam sched_getparam sched_setscheduler sched_getscheduler "
       "sched_get_priority_max sched_get_priority_min mlock munlock prctl setrlimit "
       "sched_setaffinity epoll_create timer_create epoll_wait epoll_ctl tgkill waitid "
       "inotify_init splice tee epoll_pwait signalfd timerfd_create eventfd accept4 "
       "signalfd4 eventfd2 epoll_create1 dup3 pipe2 inotify_init1 preadv pwritev "
       "recvmmsg sendmmsg memfd_create execveat copy_file_range"},
      {"ENOSYS",
       "uname getrusage sysinfo times membarrier clone3 futex_waitv map_shadow_stack 462"},
      {"ENOTTY", "ioctl"},
  };
  return endings;
}

std::string name_of(int number) {
  char* name = ::seccomp_syscall_resolve_num_arch(SCMP_ARCH_X86_64, number);
  std::string text = name == nullptr ? std::to_string(number) : name;
  ::free(name);
  return text;
}

std::string violation(const std::string& name) {
  const bool named = name.find_first_not_of("0123456789") != std::string::npos;
  return named ? "violated " + name : "violated system call " + name;
}

std::map<std::string, std::string> ending_by_name() {
  std::map<std::string, std::string> endings;
  for (const auto& [ending, names] : calls_table()) {
    std::istringstream words(names);
    for (std::string name; words >> name;) endings[name] = ending;
  }
  return endings;
}

std::string run_number(sandbox::Warden& warden, const std::string& name, int number) {
  sandbox::Spec spec;
  spec.program = cases_program();
  spec.arguments = {"hostile_cases", name, "/", "0", "0", std::to_string(number)};
  spec.limits.wall = std::chrono::milliseconds(150);
  auto outcome = sandbox::test::run(warden, spec);
  if (!outcome) return ending(std::unexpected(outcome.error()), "");
  return ending(std::move(outcome->verdict), outcome->output);
}

}  // namespace

TEST_SUITE("hostile/numbers") {
  TEST_CASE("every system call ends as the table says, and as a violation where it says nothing") {
    auto warden = sandbox::Warden::start(sandbox::test::warden_program());
    REQUIRE(warden);
    const auto endings = ending_by_name();
    for (int number = 0; number < kNumbers; ++number) {
      const std::string name = name_of(number);
      CAPTURE(number);
      // uretprobe and uprobe: since 6.14 the kernel asks no filter about them, and does nothing.
      if (number == 335 || number == 336) continue;
      const auto expected = endings.find(name);
      CHECK(name + ": " + run_number(*warden, "number", number) ==
            name + ": " + (expected == endings.end() ? violation(name) : expected->second));
    }
  }

  TEST_CASE("no number is admitted with the bit of the x32 interface") {
    auto warden = sandbox::Warden::start(sandbox::test::warden_program());
    REQUIRE(warden);
    for (int number = 0; number < kNumbers; ++number) {
      CAPTURE(number);
      CHECK(run_number(*warden, "number", number | kX32).starts_with("violated"));
    }
  }

  TEST_CASE("no number is admitted by the 32-bit interface") {
    auto warden = sandbox::Warden::start(sandbox::test::warden_program());
    REQUIRE(warden);
    // Where the kernel has no such interface it is the processor that refuses.
    const bool there = sandbox::test::in_child([] {
                         ::signal(SIGSEGV, SIG_DFL);
                         long number = 1000;
                         __asm__ volatile("int $0x80" : "+a"(number) : : "memory");
                         return std::string("there");
                       }) == "there";
    for (int number = 0; number < kNumbers; ++number) {
      CAPTURE(number);
      const std::string how = run_number(*warden, "door_interrupt", number);
      CHECK((there ? how.starts_with("violated") : how == "signal 11"));
    }
  }
}

}  // namespace mcpac::hostile
