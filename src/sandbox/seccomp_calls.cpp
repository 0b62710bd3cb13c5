// SPDX-License-Identifier: Apache-2.0

#include <cerrno>

#include "sandbox/seccomp_rules.h"

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

}  // namespace

std::vector<CallGroup> call_groups() {
  return {{kAllow, kNeeded},
          {refuse(EACCES), kFiles},
          {refuse(EPERM), kForbidden},
          {refuse(ENOSYS), kAbsent},
          {refuse(ENOTTY), kTerminal}};
}

}  // namespace mcpac::sandbox
