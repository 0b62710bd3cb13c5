/* Processes: making them, and the memory and handles of others. */
#include <linux/sched.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "cases.h"

static long child_of(long child) {
  if (child == 0) _exit(0);
  return child;
}
CASE(make_fork) { return child_of(syscall(SYS_fork)); }
CASE(make_vfork) { return child_of(syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0)); }
CASE(make_vfork_call) {
  /* Once more by its own number: in a child the frame is ours, so no return twice. */
  long child;
  __asm__ volatile("syscall" : "=a"(child) : "a"(SYS_vfork) : "rcx", "r11", "memory");
  if (child == 0) __asm__ volatile("syscall" : : "a"(SYS_exit), "D"(0) : "rcx", "r11", "memory");
  if (child < 0) errno = (int)-child;
  return child < 0 ? -1 : 0;
}
CASE(make_clone) { return child_of(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }
CASE(make_sibling) { return child_of(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0)); }
CASE(make_silent) { return child_of(syscall(SYS_clone, 0, 0, 0, 0, 0)); }
CASE(make_clone3) {
  struct clone_args how = {.exit_signal = SIGCHLD};
  return child_of(syscall(SYS_clone3, &how, sizeof how));
}
CASE(make_thread_traced) {
  return syscall(SYS_clone, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_PTRACE, 0, 0, 0, 0);
}
CASE(make_thread_with_handle) {
  int handle;
  return syscall(SYS_clone, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_PIDFD, 0, &handle, 0, 0);
}
/* Not exponential: a case that goes off outside the sandbox must not take the machine with it. */
CASE(fork_bomb) {
  for (int i = 0; i < 50; ++i) {
    pid_t child = fork();
    if (child < 0) return -1;
    if (child == 0) pause();
  }
  return 0;
}
CASE(orphan) {
  pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    setsid();
    if (fork() == 0) sleep(600);
    _exit(0);
  }
  return 0;
}
NONSENSE(wait_for_any, ECHILD, SYS_wait4, -1, NULL, WNOHANG, NULL)
CALL(parent_of, SYS_getppid)
CALL(session_of_host, SYS_getsid, host)
CALL(group_of_host, SYS_getpgid, host)
CALL(session_new, SYS_setsid)

CALL(trace_me, SYS_ptrace, PTRACE_TRACEME, 0, 0, 0)
CALL(trace_host, SYS_ptrace, PTRACE_SEIZE, host, 0, 0)
static char byte;
static struct iovec here = {&byte, 1}, there = {&byte, 1};
CALL(memory_read, SYS_process_vm_readv, getpid(), &here, 1, &there, 1, 0)
NONSENSE(memory_read_host, EFAULT, SYS_process_vm_readv, host, &here, 1, &there, 1, 0)
NONSENSE(memory_write_host, EFAULT, SYS_process_vm_writev, host, &here, 1, &there, 1, 0)
NONSENSE(memory_advise_host, EINVAL, SYS_process_madvise, syscall(SYS_pidfd_open, host, 0), &there, 1, 20, 0)
NONSENSE(memory_release_host, EINVAL, 448 /* process_mrelease */, syscall(SYS_pidfd_open, host, 0), 0)
CALL(memory_move_host, SYS_move_pages, host, 0, NULL, NULL, NULL, 0)
CALL(compare_with_host, SYS_kcmp, getpid(), host, 0 /* files */, 0, 0)
CALL(robust_list_of_host, SYS_get_robust_list, host, &(void*){0}, &(size_t){0})
CALL(handle_of_host, SYS_pidfd_open, host, 0)
CALL(handle_signal_host, SYS_pidfd_send_signal, syscall(SYS_pidfd_open, host, 0), 0, NULL, 0)
CALL(handle_of_self, SYS_pidfd_open, getpid(), 0)
