// SPDX-License-Identifier: Apache-2.0

// The calls of a program that Serves (admits.h): what an interpreter, a package of it and the
// programs that they start are written for. Which files are reached is for mounts and Landlock,
// which processes and sockets for the namespaces, or where there are none for the scopes of
// Landlock and for what differs here by Root; here stands what those do not hold, and what parts of
// the kernel have no part in serving. What is not named is unknown (ENOSYS), as on an older kernel,
// so that libraries fall back; what is named and refused is forbidden here (EPERM).
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>

#include "sandbox/seccomp_rules.h"

namespace mcpac::sandbox {
namespace {

constexpr std::uint32_t kServed = SCMP_ACT_ALLOW;
constexpr std::uint32_t answered(int error) {
  return SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error));
}

// Of libseccomp 2.5.4 no names yet, or of its headers none of ours.
constexpr int kFchmodat2 = 452;

// No memfd_create: such a file is executed and mapped to be executed whatever mounts say, also one
// made with MFD_NOEXEC_SEAL by a loader, and belongs to no process whose memory is counted.
// Libraries go on with /dev/shm or /tmp, as on a kernel that has none.
constexpr int kServedFiles[] = {SCMP_SYS(read),
                                SCMP_SYS(write),
                                SCMP_SYS(readv),
                                SCMP_SYS(writev),
                                SCMP_SYS(pread64),
                                SCMP_SYS(pwrite64),
                                SCMP_SYS(preadv),
                                SCMP_SYS(pwritev),
                                SCMP_SYS(preadv2),
                                SCMP_SYS(pwritev2),
                                SCMP_SYS(lseek),
                                SCMP_SYS(close),
                                SCMP_SYS(close_range),
                                SCMP_SYS(dup),
                                SCMP_SYS(dup2),
                                SCMP_SYS(dup3),
                                SCMP_SYS(flock),
                                SCMP_SYS(stat),
                                SCMP_SYS(lstat),
                                SCMP_SYS(fstat),
                                SCMP_SYS(newfstatat),
                                SCMP_SYS(statx),
                                SCMP_SYS(access),
                                SCMP_SYS(faccessat),
                                SCMP_SYS(faccessat2),
                                SCMP_SYS(readlink),
                                SCMP_SYS(readlinkat),
                                SCMP_SYS(getcwd),
                                SCMP_SYS(chdir),
                                SCMP_SYS(fchdir),
                                SCMP_SYS(getdents),
                                SCMP_SYS(getdents64),
                                SCMP_SYS(statfs),
                                SCMP_SYS(fstatfs),
                                SCMP_SYS(umask),
                                SCMP_SYS(unlink),
                                SCMP_SYS(unlinkat),
                                SCMP_SYS(rmdir),
                                SCMP_SYS(rename),
                                SCMP_SYS(renameat),
                                SCMP_SYS(link),
                                SCMP_SYS(linkat),
                                SCMP_SYS(symlink),
                                SCMP_SYS(symlinkat),
                                SCMP_SYS(truncate),
                                SCMP_SYS(ftruncate),
                                SCMP_SYS(chown),
                                SCMP_SYS(lchown),
                                SCMP_SYS(fchown),
                                SCMP_SYS(fchownat),
                                SCMP_SYS(utime),
                                SCMP_SYS(utimes),
                                SCMP_SYS(utimensat),
                                SCMP_SYS(futimesat),
                                SCMP_SYS(fsync),
                                SCMP_SYS(fdatasync),
                                SCMP_SYS(sync),
                                SCMP_SYS(syncfs),
                                SCMP_SYS(sync_file_range),
                                SCMP_SYS(fallocate),
                                SCMP_SYS(fadvise64),
                                SCMP_SYS(readahead),
                                SCMP_SYS(sendfile),
                                SCMP_SYS(copy_file_range),
                                SCMP_SYS(getxattr),
                                SCMP_SYS(lgetxattr),
                                SCMP_SYS(fgetxattr),
                                SCMP_SYS(listxattr),
                                SCMP_SYS(llistxattr),
                                SCMP_SYS(flistxattr),
                                SCMP_SYS(inotify_init),
                                SCMP_SYS(inotify_init1),
                                SCMP_SYS(inotify_add_watch),
                                SCMP_SYS(inotify_rm_watch),
                                SCMP_SYS(pipe),
                                SCMP_SYS(pipe2)};

constexpr int kServedMemory[] = {SCMP_SYS(mmap),          SCMP_SYS(munmap),     SCMP_SYS(mprotect),
                                 SCMP_SYS(mremap),        SCMP_SYS(brk),        SCMP_SYS(madvise),
                                 SCMP_SYS(msync),         SCMP_SYS(mincore),    SCMP_SYS(mlock),
                                 SCMP_SYS(mlock2),        SCMP_SYS(mlockall),   SCMP_SYS(munlock),
                                 SCMP_SYS(munlockall),    SCMP_SYS(pkey_alloc), SCMP_SYS(pkey_free),
                                 SCMP_SYS(pkey_mprotect), SCMP_SYS(membarrier)};

// Signals reach the processes of its own pid namespace and no others.
constexpr int kServedProcesses[] = {SCMP_SYS(fork),
                                    SCMP_SYS(vfork),
                                    SCMP_SYS(execve),
                                    SCMP_SYS(execveat),
                                    SCMP_SYS(exit),
                                    SCMP_SYS(exit_group),
                                    SCMP_SYS(wait4),
                                    SCMP_SYS(waitid),
                                    SCMP_SYS(kill),
                                    SCMP_SYS(tkill),
                                    SCMP_SYS(tgkill),
                                    SCMP_SYS(pidfd_open),
                                    SCMP_SYS(pidfd_send_signal),
                                    SCMP_SYS(rt_sigqueueinfo),
                                    SCMP_SYS(rt_tgsigqueueinfo),
                                    SCMP_SYS(rt_sigaction),
                                    SCMP_SYS(rt_sigprocmask),
                                    SCMP_SYS(rt_sigreturn),
                                    SCMP_SYS(rt_sigpending),
                                    SCMP_SYS(rt_sigsuspend),
                                    SCMP_SYS(rt_sigtimedwait),
                                    SCMP_SYS(sigaltstack),
                                    SCMP_SYS(signalfd),
                                    SCMP_SYS(signalfd4),
                                    SCMP_SYS(pause),
                                    SCMP_SYS(restart_syscall),
                                    SCMP_SYS(futex),
                                    SCMP_SYS(set_robust_list),
                                    SCMP_SYS(get_robust_list),
                                    SCMP_SYS(set_tid_address),
                                    SCMP_SYS(rseq),
                                    SCMP_SYS(sched_yield),
                                    SCMP_SYS(getcpu),
                                    SCMP_SYS(sched_getaffinity),
                                    SCMP_SYS(sched_setaffinity),
                                    SCMP_SYS(sched_getparam),
                                    SCMP_SYS(sched_setparam),
                                    SCMP_SYS(sched_getscheduler),
                                    SCMP_SYS(sched_setscheduler),
                                    SCMP_SYS(sched_getattr),
                                    SCMP_SYS(sched_get_priority_max),
                                    SCMP_SYS(sched_get_priority_min),
                                    SCMP_SYS(sched_rr_get_interval),
                                    SCMP_SYS(getpriority),
                                    SCMP_SYS(setpriority),
                                    SCMP_SYS(ioprio_get),
                                    SCMP_SYS(ioprio_set),
                                    SCMP_SYS(getpid),
                                    SCMP_SYS(gettid),
                                    SCMP_SYS(getppid),
                                    SCMP_SYS(getpgrp),
                                    SCMP_SYS(getpgid),
                                    SCMP_SYS(setpgid),
                                    SCMP_SYS(getsid),
                                    SCMP_SYS(setsid),
                                    SCMP_SYS(getuid),
                                    SCMP_SYS(geteuid),
                                    SCMP_SYS(getgid),
                                    SCMP_SYS(getegid),
                                    SCMP_SYS(getresuid),
                                    SCMP_SYS(getresgid),
                                    SCMP_SYS(getgroups),
                                    SCMP_SYS(setuid),
                                    SCMP_SYS(setgid),
                                    SCMP_SYS(setreuid),
                                    SCMP_SYS(setregid),
                                    SCMP_SYS(setresuid),
                                    SCMP_SYS(setresgid),
                                    SCMP_SYS(setfsuid),
                                    SCMP_SYS(setfsgid),
                                    SCMP_SYS(setgroups),
                                    SCMP_SYS(capget),
                                    SCMP_SYS(getrlimit),
                                    SCMP_SYS(setrlimit),
                                    SCMP_SYS(prlimit64),
                                    SCMP_SYS(getrusage),
                                    SCMP_SYS(times),
                                    SCMP_SYS(sysinfo),
                                    SCMP_SYS(uname),
                                    SCMP_SYS(getrandom)};

constexpr int kServedTime[] = {SCMP_SYS(clock_gettime),
                               SCMP_SYS(clock_getres),
                               SCMP_SYS(clock_nanosleep),
                               SCMP_SYS(nanosleep),
                               SCMP_SYS(gettimeofday),
                               SCMP_SYS(time),
                               SCMP_SYS(alarm),
                               SCMP_SYS(getitimer),
                               SCMP_SYS(setitimer),
                               SCMP_SYS(timer_create),
                               SCMP_SYS(timer_settime),
                               SCMP_SYS(timer_gettime),
                               SCMP_SYS(timer_getoverrun),
                               SCMP_SYS(timer_delete),
                               SCMP_SYS(timerfd_create),
                               SCMP_SYS(timerfd_settime),
                               SCMP_SYS(timerfd_gettime)};

constexpr int kServedWaits[] = {
    SCMP_SYS(poll),         SCMP_SYS(ppoll),         SCMP_SYS(select),    SCMP_SYS(pselect6),
    SCMP_SYS(epoll_create), SCMP_SYS(epoll_create1), SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_wait),
    SCMP_SYS(epoll_pwait),  SCMP_SYS(epoll_pwait2),  SCMP_SYS(eventfd),   SCMP_SYS(eventfd2)};

constexpr int kServedSockets[] = {
    SCMP_SYS(getsockname), SCMP_SYS(getpeername), SCMP_SYS(getsockopt), SCMP_SYS(setsockopt),
    SCMP_SYS(shutdown),    SCMP_SYS(sendto),      SCMP_SYS(recvfrom),   SCMP_SYS(sendmsg),
    SCMP_SYS(recvmsg),     SCMP_SYS(sendmmsg),    SCMP_SYS(recvmmsg)};

constexpr int kServedDialling[] = {SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(listen),
                                   SCMP_SYS(accept), SCMP_SYS(accept4)};

// Each has an old name that programs know to be refused. Of the rest a program learns that there is
// no such call.
constexpr int kNeverServed[] = {SCMP_SYS(mount),
                                SCMP_SYS(umount2),
                                SCMP_SYS(pivot_root),
                                SCMP_SYS(chroot),
                                SCMP_SYS(unshare),
                                SCMP_SYS(setns),
                                SCMP_SYS(open_tree),
                                SCMP_SYS(move_mount),
                                SCMP_SYS(fsopen),
                                SCMP_SYS(fsconfig),
                                SCMP_SYS(fsmount),
                                SCMP_SYS(fspick),
                                SCMP_SYS(mount_setattr),
                                SCMP_SYS(swapon),
                                SCMP_SYS(swapoff),
                                SCMP_SYS(ptrace),
                                SCMP_SYS(process_vm_readv),
                                SCMP_SYS(process_vm_writev),
                                SCMP_SYS(pidfd_getfd),
                                SCMP_SYS(kcmp),
                                SCMP_SYS(bpf),
                                SCMP_SYS(perf_event_open),
                                SCMP_SYS(keyctl),
                                SCMP_SYS(add_key),
                                SCMP_SYS(request_key),
                                SCMP_SYS(init_module),
                                SCMP_SYS(finit_module),
                                SCMP_SYS(delete_module),
                                SCMP_SYS(kexec_load),
                                SCMP_SYS(kexec_file_load),
                                SCMP_SYS(reboot),
                                SCMP_SYS(open_by_handle_at),
                                SCMP_SYS(name_to_handle_at),
                                SCMP_SYS(fanotify_init),
                                SCMP_SYS(fanotify_mark),
                                SCMP_SYS(acct),
                                SCMP_SYS(quotactl),
                                SCMP_SYS(syslog),
                                SCMP_SYS(sethostname),
                                SCMP_SYS(setdomainname),
                                SCMP_SYS(settimeofday),
                                SCMP_SYS(clock_settime),
                                SCMP_SYS(adjtimex),
                                SCMP_SYS(clock_adjtime),
                                SCMP_SYS(iopl),
                                SCMP_SYS(ioperm),
                                SCMP_SYS(vhangup),
                                SCMP_SYS(capset),
                                SCMP_SYS(userfaultfd)};

// As on a file system that has none: access lists are set with them, which say what modes say.
constexpr int kNoAttributes[] = {SCMP_SYS(setxattr),     SCMP_SYS(lsetxattr),
                                 SCMP_SYS(fsetxattr),    SCMP_SYS(removexattr),
                                 SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr)};

// Where mounts and namespaces hold nothing (tier B). What Landlock does not know of files that it
// cannot open: their modes, owners and times, what is attached to them, and what becomes of them.
constexpr int kBeyondLandlock[] = {SCMP_SYS(chmod),
                                   SCMP_SYS(fchmod),
                                   SCMP_SYS(fchmodat),
                                   kFchmodat2,
                                   SCMP_SYS(chown),
                                   SCMP_SYS(lchown),
                                   SCMP_SYS(fchown),
                                   SCMP_SYS(fchownat),
                                   SCMP_SYS(utime),
                                   SCMP_SYS(utimes),
                                   SCMP_SYS(futimesat),
                                   SCMP_SYS(utimensat),
                                   SCMP_SYS(inotify_init),
                                   SCMP_SYS(inotify_init1),
                                   SCMP_SYS(inotify_add_watch)};
constexpr int kAttributesRead[] = {SCMP_SYS(getxattr),  SCMP_SYS(lgetxattr),  SCMP_SYS(fgetxattr),
                                   SCMP_SYS(listxattr), SCMP_SYS(llistxattr), SCMP_SYS(flistxattr)};
// Its keeper puts it into a scope of its own, so that it cannot signal that.
constexpr int kNarrower[] = {444 /* landlock_create_ruleset */, 446 /* landlock_restrict_self */};
constexpr int kAllSockets[] = {SCMP_SYS(socket)};

using Rules = std::vector<ArgumentRule>;

scmp_arg_cmp is(unsigned argument, std::uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, 0xffffffffU, value};
}
scmp_arg_cmp with_bits(unsigned argument, std::uint64_t mask, std::uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

// Processes and threads, in the namespaces that it has. clone3 hides its flags behind a pointer:
// libc and Node go on with clone.
void starting_rules(Rules& rules) {
  constexpr std::uint64_t kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                        CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
  rules.push_back({kServed, SCMP_SYS(clone), {with_bits(0, kNamespaces, 0)}});
  for (std::uint64_t left = kNamespaces; left != 0;) {
    const std::uint64_t flag = left & (~left + 1U);  // rules of one call never overlap
    left &= ~flag;
    const std::uint64_t lower = kNamespaces & (flag | (flag - 1));
    rules.push_back({answered(EPERM), SCMP_SYS(clone), {with_bits(0, lower, flag)}});
  }
}

// A set-user-id or set-group-id bit is never put on a file: in a place of the host it would lend
// its owner to every user there.
void plain_modes(Rules& rules, int call, unsigned mode) {
  constexpr std::uint64_t kSetIds = S_ISUID | S_ISGID;
  rules.push_back({kServed, call, {with_bits(mode, kSetIds, 0)}});
  for (const unsigned bits : {02000U, 04000U, 06000U})
    rules.push_back({answered(EPERM), call, {with_bits(mode, kSetIds, bits)}});
}

void making_rules(Rules& rules, Root root) {
  plain_modes(rules, SCMP_SYS(open), 2);
  plain_modes(rules, SCMP_SYS(openat), 3);
  plain_modes(rules, SCMP_SYS(creat), 1);
  plain_modes(rules, SCMP_SYS(mkdir), 1);
  plain_modes(rules, SCMP_SYS(mkdirat), 2);
  if (root == Root::kOwn) {
    plain_modes(rules, SCMP_SYS(chmod), 1);
    plain_modes(rules, SCMP_SYS(fchmod), 1);
    plain_modes(rules, SCMP_SYS(fchmodat), 2);
    plain_modes(rules, kFchmodat2, 2);
  }
  for (const unsigned kind : {0U, unsigned{S_IFREG}, unsigned{S_IFIFO}, unsigned{S_IFSOCK}}) {
    constexpr std::uint64_t kKindAndSetIds = S_IFMT | S_ISUID | S_ISGID;
    rules.push_back({kServed, SCMP_SYS(mknod), {with_bits(1, kKindAndSetIds, kind)}});
    rules.push_back({kServed, SCMP_SYS(mknodat), {with_bits(2, kKindAndSetIds, kind)}});
  }
  // RENAME_WHITEOUT makes a device.
  for (const unsigned flags : {0U, 1U, 2U})
    rules.push_back({kServed, SCMP_SYS(renameat2), {is(4, flags)}});
}

// All that is asked of descriptors but what others would wait for or be watched by: a lease on a
// file that may only be read keeps every open() of it on this machine waiting, for
// /proc/sys/fs/lease-break-time each, and root's id-mapped mounts show root's files as the
// program's own. The answer is that of a file system without leases. By all 32 bits that the kernel
// reads, and no more.
void command_rules(Rules& rules) {
  constexpr unsigned kSetLease = 1024;
  constexpr unsigned kNotify = 1026;
  struct Commands {
    std::uint64_t mask;
    unsigned first;
  };
  for (const auto& [mask, first] : {Commands{0xfffffff0U, 0},      // F_DUPFD to F_SETOWN_EX
                                    Commands{0xffffffffU, 16},     // F_GETOWN_EX
                                    Commands{0xfffffffcU, 36},     // locks of open files
                                    Commands{0xffffffffU, 1025},   // F_GETLEASE
                                    Commands{0xffffffffU, 1027},   // F_DUPFD_QUERY
                                    Commands{0xfffffffeU, 1028},   // F_CREATED_QUERY
                                    Commands{0xfffffffeU, 1030},   // F_DUPFD_CLOEXEC
                                    Commands{0xfffffff8U, 1032}})  // pipes' sizes, seals, hints
    rules.push_back({kServed, SCMP_SYS(fcntl), {with_bits(1, mask, first)}});
  for (const unsigned command : {kSetLease, kNotify})
    rules.push_back({answered(EINVAL), SCMP_SYS(fcntl), {is(1, command)}});
}

// Streams and datagrams of the families that libc knows, and the kernel's list of interfaces. In a
// network namespace of the host no socket file may be dialled, as services of the user would do
// there what this program may not; so there are only pairs, none of datagrams, which go anywhere.
void socket_rules(Rules& rules, Root root, bool dials) {
  constexpr std::uint64_t kType = 0xf;  // without SOCK_CLOEXEC and SOCK_NONBLOCK
  constexpr unsigned kTcp = 6;
  constexpr unsigned kUdp = 17;
  for (const unsigned type : {unsigned{SOCK_STREAM}, unsigned{SOCK_SEQPACKET}})
    rules.push_back({kServed, SCMP_SYS(socketpair), {is(0, AF_UNIX), with_bits(1, kType, type)}});
  if (root == Root::kOwn) {
    rules.push_back(
        {kServed, SCMP_SYS(socketpair), {is(0, AF_UNIX), with_bits(1, kType, SOCK_DGRAM)}});
    for (const unsigned type :
         {unsigned{SOCK_STREAM}, unsigned{SOCK_DGRAM}, unsigned{SOCK_SEQPACKET}})
      rules.push_back({kServed, SCMP_SYS(socket), {is(0, AF_UNIX), with_bits(1, kType, type)}});
  } else if (!dials) {
    return;
  } else {
    rules.push_back({answered(EPERM), SCMP_SYS(socket), {is(0, AF_UNIX)}});
  }
  for (const unsigned family : {unsigned{AF_INET}, unsigned{AF_INET6}}) {
    for (const unsigned protocol : {0U, kTcp})
      rules.push_back({kServed,
                       SCMP_SYS(socket),
                       {is(0, family), with_bits(1, kType, SOCK_STREAM), is(2, protocol)}});
    for (const unsigned protocol : {0U, kUdp})
      rules.push_back({kServed,
                       SCMP_SYS(socket),
                       {is(0, family), with_bits(1, kType, SOCK_DGRAM), is(2, protocol)}});
  }
  for (const unsigned type : {unsigned{SOCK_RAW}, unsigned{SOCK_DGRAM}})
    rules.push_back({kServed,
                     SCMP_SYS(socket),
                     {is(0, AF_NETLINK), with_bits(1, kType, type), is(2, NETLINK_ROUTE)}});
}

// Of this process alone: the kernel asks for no more than the same user, and Landlock is not asked.
// Others are no such call.
void own_process_rules(Rules& rules) {
  constexpr unsigned kProcess = 0;    // PRIO_PROCESS
  constexpr unsigned kIoProcess = 1;  // IOPRIO_WHO_PROCESS
  for (const int call : {SCMP_SYS(prlimit64), SCMP_SYS(sched_setaffinity), SCMP_SYS(sched_setparam),
                         SCMP_SYS(sched_setscheduler)})
    rules.push_back({kServed, call, {is(0, 0)}});
  rules.push_back({kServed, SCMP_SYS(setpriority), {is(0, kProcess), is(1, 0)}});
  rules.push_back({kServed, SCMP_SYS(ioprio_set), {is(0, kIoProcess), is(1, 0)}});
}

void odd_rules(Rules& rules) {
  // Of terminals what asks whether there is one; of descriptors and sockets what libraries ask.
  for (const unsigned request :
       {0x5401U /* TCGETS */, 0x5413U /* TIOCGWINSZ */, 0x540fU /* TIOCGPGRP */,
        0x541bU /* FIONREAD */, 0x5421U /* FIONBIO */, 0x5450U /* FIONCLEX */,
        0x5451U /* FIOCLEX */, 0x5452U /* FIOASYNC */, 0x8910U /* SIOCGIFNAME */,
        0x8912U /* SIOCGIFCONF */, 0x8913U /* SIOCGIFFLAGS */, 0x8915U /* SIOCGIFADDR */,
        0x8919U /* SIOCGIFBRDADDR */, 0x891bU /* SIOCGIFNETMASK */, 0x8921U /* SIOCGIFMTU */,
        0x8927U /* SIOCGIFHWADDR */, 0x8933U /* SIOCGIFINDEX */})
    rules.push_back({kServed, SCMP_SYS(ioctl), {is(1, request)}});
  for (const unsigned option : {unsigned{PR_SET_NAME},
                                unsigned{PR_GET_NAME},
                                unsigned{PR_SET_PDEATHSIG},
                                unsigned{PR_GET_PDEATHSIG},
                                unsigned{PR_GET_DUMPABLE},
                                unsigned{PR_SET_DUMPABLE},
                                unsigned{PR_SET_CHILD_SUBREAPER},
                                unsigned{PR_GET_CHILD_SUBREAPER},
                                unsigned{PR_SET_NO_NEW_PRIVS},
                                unsigned{PR_GET_NO_NEW_PRIVS},
                                unsigned{PR_SET_TIMERSLACK},
                                unsigned{PR_GET_TIMERSLACK},
                                unsigned{PR_SET_THP_DISABLE},
                                unsigned{PR_GET_THP_DISABLE},
                                unsigned{PR_SET_KEEPCAPS},
                                unsigned{PR_GET_KEEPCAPS},
                                unsigned{PR_CAPBSET_READ},
                                unsigned{PR_GET_SECCOMP},
                                unsigned{PR_GET_SECUREBITS},
                                0x53564d41U /* PR_SET_VMA */})
    rules.push_back({kServed, SCMP_SYS(prctl), {is(0, option)}});
  // The query of its personality; none can be set, as one makes all memory executable.
  rules.push_back({kServed, SCMP_SYS(personality), {is(0, 0xffffffffU)}});
  for (const unsigned code : {0x1001U, 0x1002U, 0x1003U, 0x1004U, 0x3001U})  // FS, GS, CET's state
    rules.push_back({kServed, SCMP_SYS(arch_prctl), {is(0, code)}});
}

}  // namespace

std::vector<CallGroup> serving_groups(const FilterKey& key) {
  std::vector<CallGroup> groups{{kServed, kServedFiles},
                                {kServed, kServedMemory},
                                {kServed, kServedProcesses},
                                {kServed, kServedTime},
                                {kServed, kServedWaits},
                                {kServed, kServedSockets},
                                {kServed, kServedDialling},
                                {answered(EPERM), kNeverServed},
                                {answered(EOPNOTSUPP), kNoAttributes}};
  if (key.root == Root::kOwn) return groups;
  groups.push_back({answered(EPERM), kBeyondLandlock});
  groups.push_back({answered(EOPNOTSUPP), kAttributesRead});
  groups.push_back({kServed, kNarrower});
  if (!key.admits.has<Dials>()) {
    groups.push_back({answered(EPERM), kServedDialling});
    groups.push_back({answered(EPERM), kAllSockets});
  }
  return groups;
}

std::vector<ArgumentRule> serving_rules(const FilterKey& key) {
  Rules rules;
  starting_rules(rules);
  making_rules(rules, key.root);
  command_rules(rules);
  socket_rules(rules, key.root, key.admits.has<Dials>());
  odd_rules(rules);
  if (key.root == Root::kOfHost) own_process_rules(rules);
  return rules;
}

}  // namespace mcpac::sandbox
