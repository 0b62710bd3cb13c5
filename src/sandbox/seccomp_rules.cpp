#include "sandbox/seccomp_rules.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>

#include <cerrno>

#include "sandbox/plan.h"

namespace mcpac::sandbox {
namespace {

constexpr std::uint32_t kAllow = SCMP_ACT_ALLOW;
constexpr std::uint32_t refuse(int error) {
  return SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error));
}

// Reads, writes, memory, signals to itself, clocks, threads: what remains reachable of the kernel.
constexpr int kNeeded[] = {SCMP_SYS(read),
                           SCMP_SYS(write),
                           SCMP_SYS(readv),
                           SCMP_SYS(writev),
                           SCMP_SYS(close),
                           SCMP_SYS(fstat),
                           SCMP_SYS(lseek),
                           SCMP_SYS(munmap),
                           SCMP_SYS(mprotect),
                           SCMP_SYS(brk),
                           SCMP_SYS(mremap),
                           SCMP_SYS(rt_sigaction),
                           SCMP_SYS(rt_sigprocmask),
                           SCMP_SYS(rt_sigreturn),
                           SCMP_SYS(sigaltstack),
                           SCMP_SYS(exit),
                           SCMP_SYS(exit_group),
                           SCMP_SYS(set_robust_list),
                           SCMP_SYS(set_tid_address),
                           SCMP_SYS(rseq),
                           SCMP_SYS(restart_syscall),
                           SCMP_SYS(nanosleep),
                           SCMP_SYS(gettimeofday),
                           SCMP_SYS(time),
                           SCMP_SYS(getrandom),
                           SCMP_SYS(getpid),
                           SCMP_SYS(gettid),
                           SCMP_SYS(sched_yield),
                           SCMP_SYS(sched_getaffinity),
                           SCMP_SYS(getcpu),
                           SCMP_SYS(poll),
                           SCMP_SYS(ppoll),
                           SCMP_SYS(select),
                           SCMP_SYS(pselect6)};

// Names of files: the answer that a program is prepared for.
constexpr int kFiles[] = {
    SCMP_SYS(open),       SCMP_SYS(openat),     SCMP_SYS(openat2),    SCMP_SYS(creat),
    SCMP_SYS(stat),       SCMP_SYS(lstat),      SCMP_SYS(newfstatat), SCMP_SYS(statx),
    SCMP_SYS(access),     SCMP_SYS(faccessat),  SCMP_SYS(faccessat2), SCMP_SYS(readlink),
    SCMP_SYS(readlinkat), SCMP_SYS(getcwd),     SCMP_SYS(chdir),      SCMP_SYS(fchdir),
    SCMP_SYS(mkdir),      SCMP_SYS(mkdirat),    SCMP_SYS(rmdir),      SCMP_SYS(unlink),
    SCMP_SYS(unlinkat),   SCMP_SYS(rename),     SCMP_SYS(renameat),   SCMP_SYS(renameat2),
    SCMP_SYS(link),       SCMP_SYS(linkat),     SCMP_SYS(symlink),    SCMP_SYS(symlinkat),
    SCMP_SYS(truncate),   SCMP_SYS(ftruncate),  SCMP_SYS(fallocate),  SCMP_SYS(chmod),
    SCMP_SYS(fchmod),     SCMP_SYS(fchmodat),   SCMP_SYS(chown),      SCMP_SYS(lchown),
    SCMP_SYS(fchown),     SCMP_SYS(fchownat),   SCMP_SYS(utime),      SCMP_SYS(utimes),
    SCMP_SYS(utimensat),  SCMP_SYS(futimesat),  SCMP_SYS(statfs),     SCMP_SYS(fstatfs),
    SCMP_SYS(getdents),   SCMP_SYS(getdents64), SCMP_SYS(umask),      SCMP_SYS(mknod),
    SCMP_SYS(mknodat)};

// Processes, sockets, descriptors and the identity of the process.
constexpr int kForbidden[] = {SCMP_SYS(socket),
                              SCMP_SYS(socketpair),
                              SCMP_SYS(connect),
                              SCMP_SYS(bind),
                              SCMP_SYS(listen),
                              SCMP_SYS(accept),
                              SCMP_SYS(accept4),
                              SCMP_SYS(getsockname),
                              SCMP_SYS(getpeername),
                              SCMP_SYS(getsockopt),
                              SCMP_SYS(setsockopt),
                              SCMP_SYS(shutdown),
                              SCMP_SYS(sendmsg),
                              SCMP_SYS(recvmsg),
                              SCMP_SYS(sendmmsg),
                              SCMP_SYS(recvmmsg),
                              SCMP_SYS(fork),
                              SCMP_SYS(vfork),
                              SCMP_SYS(execve),
                              SCMP_SYS(wait4),
                              SCMP_SYS(waitid),
                              SCMP_SYS(dup),
                              SCMP_SYS(dup2),
                              SCMP_SYS(dup3),
                              SCMP_SYS(pipe),
                              SCMP_SYS(pipe2),
                              SCMP_SYS(eventfd),
                              SCMP_SYS(eventfd2),
                              SCMP_SYS(epoll_create),
                              SCMP_SYS(epoll_create1),
                              SCMP_SYS(epoll_ctl),
                              SCMP_SYS(epoll_wait),
                              SCMP_SYS(epoll_pwait),
                              SCMP_SYS(memfd_create),
                              SCMP_SYS(timerfd_create),
                              SCMP_SYS(signalfd),
                              SCMP_SYS(signalfd4),
                              SCMP_SYS(inotify_init),
                              SCMP_SYS(inotify_init1),
                              SCMP_SYS(prctl),
                              SCMP_SYS(getuid),
                              SCMP_SYS(geteuid),
                              SCMP_SYS(getgid),
                              SCMP_SYS(getegid),
                              SCMP_SYS(getresuid),
                              SCMP_SYS(getresgid),
                              SCMP_SYS(getgroups),
                              SCMP_SYS(getppid),
                              SCMP_SYS(getpgrp),
                              SCMP_SYS(getpgid),
                              SCMP_SYS(getsid),
                              SCMP_SYS(setsid),
                              SCMP_SYS(setpgid),
                              SCMP_SYS(getpriority),
                              SCMP_SYS(setpriority),
                              SCMP_SYS(sched_setaffinity),
                              SCMP_SYS(sched_setscheduler),
                              SCMP_SYS(sched_getscheduler),
                              SCMP_SYS(sched_setparam),
                              SCMP_SYS(sched_getparam),
                              SCMP_SYS(sched_get_priority_max),
                              SCMP_SYS(sched_get_priority_min),
                              SCMP_SYS(getrlimit),
                              SCMP_SYS(setrlimit),
                              SCMP_SYS(sendfile),
                              SCMP_SYS(splice),
                              SCMP_SYS(tee),
                              SCMP_SYS(copy_file_range),
                              SCMP_SYS(flock),
                              SCMP_SYS(fsync),
                              SCMP_SYS(fdatasync),
                              SCMP_SYS(pread64),
                              SCMP_SYS(pwrite64),
                              SCMP_SYS(preadv),
                              SCMP_SYS(pwritev),
                              SCMP_SYS(msync),
                              SCMP_SYS(mincore),
                              SCMP_SYS(mlock),
                              SCMP_SYS(munlock),
                              SCMP_SYS(alarm),
                              SCMP_SYS(pause),
                              SCMP_SYS(setitimer),
                              SCMP_SYS(getitimer),
                              SCMP_SYS(timer_create),
                              SCMP_SYS(rt_sigpending),
                              SCMP_SYS(rt_sigsuspend),
                              SCMP_SYS(rt_sigtimedwait)};

// What libraries probe for: they fall back on ENOSYS and on nothing else. clone3 hides its flags
// behind a pointer, so threads must come by clone.
constexpr int kAbsent[] = {SCMP_SYS(clone3),
                           SCMP_SYS(uname),
                           SCMP_SYS(sysinfo),
                           SCMP_SYS(getrusage),
                           SCMP_SYS(times),
                           SCMP_SYS(membarrier),
                           449 /* futex_waitv */,
                           453 /* map_shadow_stack */,
                           462 /* mseal */};
constexpr int kTerminal[] = {SCMP_SYS(ioctl)};

constexpr int kDynamicLoader[] = {SCMP_SYS(pread64), SCMP_SYS(newfstatat), SCMP_SYS(stat),
                                  SCMP_SYS(lstat),   SCMP_SYS(access),     SCMP_SYS(faccessat)};

// Mounts and Landlock decide which files; no exec, no socket, no device, no special file.
constexpr int kCompilerNeeds[] = {
    SCMP_SYS(stat),       SCMP_SYS(lstat),     SCMP_SYS(newfstatat), SCMP_SYS(statx),
    SCMP_SYS(access),     SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(readlink),
    SCMP_SYS(readlinkat), SCMP_SYS(getcwd),    SCMP_SYS(getdents64), SCMP_SYS(statfs),
    SCMP_SYS(fstatfs),    SCMP_SYS(pread64),   SCMP_SYS(pwrite64),   SCMP_SYS(ftruncate),
    SCMP_SYS(fallocate),  SCMP_SYS(unlink),    SCMP_SYS(unlinkat),   SCMP_SYS(rename),
    SCMP_SYS(renameat),   SCMP_SYS(renameat2), SCMP_SYS(umask),      SCMP_SYS(msync),
    SCMP_SYS(fsync),      SCMP_SYS(fdatasync), SCMP_SYS(getuid),     SCMP_SYS(geteuid),
    SCMP_SYS(getgid),     SCMP_SYS(getegid),   SCMP_SYS(uname),      SCMP_SYS(sysinfo),
    SCMP_SYS(getrusage),  SCMP_SYS(times),     SCMP_SYS(getrlimit),  SCMP_SYS(getppid)};

scmp_arg_cmp equals(unsigned argument, std::uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, 0xffffffffU, value};
}
scmp_arg_cmp differs(unsigned argument, std::uint64_t value) {
  return {argument, SCMP_CMP_NE, value, 0};
}
scmp_arg_cmp masked(unsigned argument, std::uint64_t mask, std::uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}
scmp_arg_cmp above(unsigned argument, std::uint64_t value) {
  return {argument, SCMP_CMP_GT, value, 0};
}
scmp_arg_cmp at_most(unsigned argument, std::uint64_t value) {
  return {argument, SCMP_CMP_LE, value, 0};
}

using Rules = std::vector<ArgumentRule>;

// Private memory only: shared anonymous memory escapes RLIMIT_DATA.
void memory_rules(Rules& rules, Profile profile) {
  if (profile == Profile::kCompiler) {
    rules.push_back(
        {kAllow, SCMP_SYS(mmap), {}});  // lld writes its output through a shared mapping
  } else {
    rules.push_back({kAllow, SCMP_SYS(mmap), {masked(3, MAP_TYPE, MAP_PRIVATE)}});
    rules.push_back({refuse(EPERM), SCMP_SYS(mmap), {masked(3, MAP_SHARED, MAP_SHARED)}});
  }
  constexpr unsigned kHints[] = {MADV_NORMAL,   MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED,
                                 MADV_DONTNEED, MADV_FREE,   MADV_HUGEPAGE,   MADV_NOHUGEPAGE};
  constexpr unsigned kLastHint = 25;
  for (unsigned advice = 0; advice <= kLastHint; ++advice) {
    bool hint = false;
    for (const unsigned known : kHints) hint = hint || known == advice;
    rules.push_back({hint ? kAllow : refuse(EINVAL), SCMP_SYS(madvise), {equals(2, advice)}});
  }
}

// Threads, but no processes and no namespaces; plain futexes without priority inheritance.
void thread_rules(Rules& rules) {
  constexpr std::uint64_t kThread = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD;
  constexpr std::uint64_t kNever = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                   CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_VFORK |
                                   CLONE_PTRACE | CLONE_PARENT | CLONE_PIDFD | CLONE_IO;
  rules.push_back({kAllow, SCMP_SYS(clone), {masked(0, kThread | kNever, kThread)}});
  rules.push_back({refuse(EPERM), SCMP_SYS(clone), {masked(0, CLONE_THREAD, 0)}});
  constexpr std::uint64_t kOperation =
      0xffffffffU & ~(128U | 256U);  // without PRIVATE and CLOCK_REALTIME
  for (const unsigned plain : {0U, 1U, 3U, 4U, 5U, 9U, 10U}) {
    rules.push_back({kAllow, SCMP_SYS(futex), {masked(1, kOperation, plain)}});
  }
  for (const unsigned inheriting : {6U, 7U, 8U, 11U, 12U, 13U}) {
    rules.push_back({refuse(ENOSYS), SCMP_SYS(futex), {masked(1, kOperation, inheriting)}});
  }
}

// Ids above 11 are clocks of other processes and of devices.
void clock_rules(Rules& rules) {
  constexpr std::uint64_t kLastClock = 11;
  for (const int call :
       {SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(clock_nanosleep)}) {
    rules.push_back({kAllow, call, {at_most(0, kLastClock)}});
    rules.push_back({refuse(EINVAL), call, {above(0, kLastClock)}});
  }
}

void process_rules(Rules& rules) {
  for (const int call : {SCMP_SYS(kill), SCMP_SYS(tgkill)}) {
    rules.push_back({kAllow, call, {{0, SCMP_CMP_EQ, kOwnProcessMark, 0}}});
    rules.push_back({refuse(EPERM), call, {differs(0, kOwnProcessMark)}});
  }
  constexpr std::uint64_t kSetFs = 0x1002;
  rules.push_back({kAllow, SCMP_SYS(arch_prctl), {{0, SCMP_CMP_EQ, kSetFs, 0}}});
  rules.push_back({refuse(EINVAL), SCMP_SYS(arch_prctl), {differs(0, kSetFs)}});
  // Limits may be read, one's own only.
  rules.push_back({kAllow, SCMP_SYS(prlimit64), {{0, SCMP_CMP_EQ, 0, 0}, {2, SCMP_CMP_EQ, 0, 0}}});
  rules.push_back({refuse(EPERM), SCMP_SYS(prlimit64), {differs(2, 0)}});
  rules.push_back({refuse(EPERM), SCMP_SYS(prlimit64), {differs(0, 0), {2, SCMP_CMP_EQ, 0, 0}}});
  // The one exec that starts the program: its descriptor has a number that RLIMIT_NOFILE makes
  // impossible afterwards.
  rules.push_back({kAllow,
                   SCMP_SYS(execveat),
                   {{0, SCMP_CMP_EQ, kProgramDescriptor, 0}, {4, SCMP_CMP_EQ, AT_EMPTY_PATH, 0}}});
  rules.push_back({refuse(EPERM), SCMP_SYS(execveat), {differs(0, kProgramDescriptor)}});
}

void descriptor_rules(Rules& rules) {
  for (std::uint64_t command = 0; command <= 4; ++command) {
    const bool flags = command != F_DUPFD;
    rules.push_back({flags ? kAllow : refuse(EPERM), SCMP_SYS(fcntl), {equals(1, command)}});
  }
  rules.push_back({refuse(EPERM), SCMP_SYS(fcntl), {above(1, 4)}});
  // On a connected socket these are read and write; with an address they reach further.
  for (const int call : {SCMP_SYS(sendto), SCMP_SYS(recvfrom)}) {
    rules.push_back({kAllow, call, {{4, SCMP_CMP_EQ, 0, 0}}});
    rules.push_back({refuse(EPERM), call, {differs(4, 0)}});
  }
}

// open() and openat() for reading, nothing else.
void reading_rules(Rules& rules, int call, unsigned flags) {
  constexpr std::uint64_t kWays = O_ACCMODE | O_CREAT | O_TRUNC;
  rules.push_back({kAllow, call, {masked(flags, kWays, O_RDONLY)}});
  for (const unsigned way : {1U, 2U, 3U}) {
    rules.push_back({refuse(EACCES), call, {masked(flags, O_ACCMODE, way)}});
  }
  rules.push_back({refuse(EACCES), call, {masked(flags, O_ACCMODE | O_CREAT, O_CREAT)}});
  rules.push_back({refuse(EACCES), call, {masked(flags, kWays, O_TRUNC)}});
}

// A set-user-id or set-group-id bit is never put on a file.
void mode_rules(Rules& rules, int call, unsigned mode) {
  constexpr std::uint64_t kSpecial = 06000;
  rules.push_back({kAllow, call, {masked(mode, kSpecial, 0)}});
  for (const unsigned bits : {02000U, 04000U, 06000U}) {
    rules.push_back({refuse(EPERM), call, {masked(mode, kSpecial, bits)}});
  }
}

void file_rules(Rules& rules, Profile profile) {
  if (profile == Profile::kAgentDynamic) {
    reading_rules(rules, SCMP_SYS(open), 1);
    reading_rules(rules, SCMP_SYS(openat), 2);
  }
  if (profile == Profile::kCompiler) {
    mode_rules(rules, SCMP_SYS(open), 2);
    mode_rules(rules, SCMP_SYS(openat), 3);
    mode_rules(rules, SCMP_SYS(mkdir), 1);
    mode_rules(rules, SCMP_SYS(mkdirat), 2);
    mode_rules(rules, SCMP_SYS(chmod), 1);
    mode_rules(rules, SCMP_SYS(fchmod), 1);
    mode_rules(rules, SCMP_SYS(fchmodat), 2);
  }
}

}  // namespace

std::vector<CallGroup> call_groups(Profile profile) {
  std::vector<CallGroup> groups{{kAllow, kNeeded},
                                {refuse(EACCES), kFiles},
                                {refuse(EPERM), kForbidden},
                                {refuse(ENOSYS), kAbsent},
                                {refuse(ENOTTY), kTerminal}};
  if (profile == Profile::kAgentDynamic) groups.push_back({kAllow, kDynamicLoader});
  if (profile == Profile::kCompiler) groups.push_back({kAllow, kCompilerNeeds});
  return groups;
}

std::vector<ArgumentRule> argument_rules(Profile profile) {
  Rules rules;
  memory_rules(rules, profile);
  thread_rules(rules);
  clock_rules(rules);
  process_rules(rules);
  descriptor_rules(rules);
  file_rules(rules, profile);
  return rules;
}

}  // namespace mcpac::sandbox
