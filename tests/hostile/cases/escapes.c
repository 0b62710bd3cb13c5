/* Escapes: another root, other mounts, other namespaces, other ids, other programs. */
#include <linux/capability.h>
#include <linux/sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "cases.h"

extern char** environ;
static char* arguments[] = {"sh", "-c", "exit 0", NULL};

/* The old dance: a folder open before chroot leads out of it. */
CASE(chroot_dance) {
  int before = open("/", O_RDONLY | O_DIRECTORY);
  mkdir(at("new"), 0755);
  if (syscall(SYS_chroot, at("new")) != 0) return -1;
  return fchdir(before);
}
CALL(chroot_here, SYS_chroot, ".")
CASE(pivot_root) {
  if (mount(folder, folder, NULL, MS_BIND, NULL) != 0 || chdir(folder) != 0) return -1;
  return syscall(SYS_pivot_root, ".", ".");
}
CALL(mount_tmpfs, SYS_mount, "none", at("folder"), "tmpfs", 0, NULL)
CALL(mount_bind, SYS_mount, "/etc", at("folder"), NULL, MS_BIND, NULL)
CALL(mount_proc, SYS_mount, "none", at("folder"), "proc", 0, NULL)
CALL(mount_remount, SYS_mount, NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL)
CALL(mount_overlay, SYS_mount, "none", at("folder"), "overlay", 0, "lowerdir=/etc:/usr")
CALL(unmount_root, SYS_umount2, "/proc", MNT_DETACH)
CALL(mount_api_open, SYS_fsopen, "tmpfs", 0)
CALL(mount_api_pick, SYS_fspick, AT_FDCWD, "/", 0)
CALL(mount_api_tree, SYS_open_tree, AT_FDCWD, "/", 1 /* clone */)
CALL(mount_api_move, SYS_move_mount, syscall(SYS_open_tree, AT_FDCWD, "/etc", 1), "", AT_FDCWD,
     at("folder"), 4 /* empty path */)
CALL(mount_api_change, SYS_mount_setattr, AT_FDCWD, "/proc", 0, (char[32]){1}, 32)
CALL(mount_api_list, 458 /* listmount */, (uint64_t[4]){24, ~UINT64_C(0), 0, 0}, (uint64_t[64]){0}, 64, 0)

CALL(namespace_user, SYS_unshare, CLONE_NEWUSER)
CALL(namespace_mount, SYS_unshare, CLONE_NEWNS)
CALL(namespace_network, SYS_unshare, CLONE_NEWNET)
CALL(namespace_time, SYS_unshare, CLONE_NEWTIME)
static long child_of(long child) {
  if (child == 0) _exit(0);
  return child;
}
CASE(namespace_by_clone) {
  return child_of(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
}
CASE(namespace_by_clone3) {
  struct clone_args how = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
  return child_of(syscall(SYS_clone3, &how, sizeof how));
}
NONSENSE(namespace_by_thread, EINVAL, SYS_clone,
         CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_NEWUSER, 0, 0, 0, 0)
CALL(namespace_enter, SYS_setns, open(of_host("ns/uts"), O_RDONLY), 0)
CALL(namespace_enter_process, SYS_setns, syscall(SYS_pidfd_open, host, 0), CLONE_NEWUTS)
CALL(host_name, SYS_sethostname, "owned", 5)
CALL(domain_name, SYS_setdomainname, "owned", 5)

CALL(id_user, SYS_setuid, 0)
CALL(id_user_both, SYS_setreuid, 0, 0)
CALL(id_user_all, SYS_setresuid, 0, 0, 0)
CALL(id_group, SYS_setgid, 0)
CALL(id_group_all, SYS_setresgid, 0, 0, 0)
CALL(id_groups, SYS_setgroups, 0, NULL)
CALL(id_of_files, SYS_setfsuid, 0)
CALL(id_read, SYS_getuid)
CASE(capabilities_set) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2];
  memset(data, 0, sizeof data); /* giving up is an attempt, too */
  return syscall(SYS_capset, &header, data);
}
CASE(capabilities_get) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2];
  return syscall(SYS_capget, &header, data);
}
CALL(prctl_keep, SYS_prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0)
CALL(prctl_dumpable, SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0)
CALL(prctl_outlive, SYS_prctl, PR_SET_PDEATHSIG, 0, 0, 0, 0)
CALL(prctl_reaper, SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
CALL(prctl_slack, SYS_prctl, PR_SET_TIMERSLACK, 1, 0, 0, 0)
CALL(prctl_name, SYS_prctl, PR_SET_NAME, "innocent", 0, 0, 0)
CALL(prctl_filter, SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0)
CALL(personality_set, SYS_personality, 0x0040000 /* no randomisation */)
CALL(filter_more, SYS_seccomp, 2 /* what is there? */, 0, &(uint32_t){0x7fff0000})

CALL(run_shell, SYS_execve, "/bin/sh", arguments, environ)
CALL(run_itself, SYS_execve, "/proc/self/exe", (char*[]){"x", "run_done", NULL}, environ)
CASE(run_done) { return 0; }
CALL(run_by_path, SYS_execveat, AT_FDCWD, "/bin/sh", arguments, environ, 0)
CASE(run_memory_file) {
  int file = (int)syscall(SYS_memfd_create, "x", 0);
  int self = open("/proc/self/exe", O_RDONLY);
  char block[4096];
  ssize_t size;
  while ((size = read(self, block, sizeof block)) > 0)
    if (write(file, block, (size_t)size) != size) return -1;
  return syscall(SYS_execveat, file, "", (char*[]){"x", "run_done", NULL}, environ, AT_EMPTY_PATH);
}
/* Every descriptor there could be, then one put where the sandbox had its own. */
CASE(run_descriptors) {
  open("/bin/sh", O_RDONLY);
  for (int fd = 0; fd < 2048; ++fd)
    syscall(SYS_execveat, fd, "", arguments, environ, AT_EMPTY_PATH);
  for (int from = 0; from < 64; ++from) {
    syscall(SYS_dup2, from, 1000);
    syscall(SYS_dup3, from, 1000, 0);
    syscall(SYS_fcntl, from, F_DUPFD, 1000);
  }
  return syscall(SYS_execveat, 1000, "", arguments, environ, AT_EMPTY_PATH);
}
CALL(run_from_number, SYS_execveat, 1000, "/bin/sh", arguments, environ, 0)
CASE(run_after_raising_limit) {
  uint64_t limit[2] = {4096, 4096};
  if (syscall(SYS_prlimit64, 0, 7 /* open files */, limit, NULL) != 0) return -1;
  if (dup2(open("/bin/sh", O_RDONLY), 1000) < 0) return -1;
  return syscall(SYS_execveat, 1000, "", arguments, environ, AT_EMPTY_PATH);
}
