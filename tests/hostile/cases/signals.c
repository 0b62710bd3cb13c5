/* Signals, limits and scheduling, one's own and of others. */
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>

#include "cases.h"

CALL(signal_host, SYS_kill, host, 0)
CALL(signal_all, SYS_kill, -1, 0)
CALL(signal_group, SYS_kill, 0, 0)
CASE(signal_group_of_host) {
  pid_t group = getpgid(host);
  return kill(group > 0 ? -group : -host, 0);
}
CALL(signal_parent, SYS_kill, getppid(), 0)
CALL(signal_init, SYS_tgkill, 1, 1, 0)
CALL(signal_thread_of_host, SYS_tgkill, host, host, 0)
CALL(signal_thread_old, SYS_tkill, host, 0)
CALL(signal_queue, SYS_rt_sigqueueinfo, getpid(), SIGWINCH,
     &(siginfo_t){.si_signo = SIGWINCH, .si_code = -1})
CALL(signal_queue_thread, SYS_rt_tgsigqueueinfo, getpid(), getpid(), SIGWINCH,
     &(siginfo_t){.si_signo = SIGWINCH, .si_code = -1})
CASE(signal_itself) { return raise(SIGWINCH); }
CASE(signal_kernel_forged) {
  return syscall(SYS_rt_sigqueueinfo, host, 0, &(siginfo_t){.si_code = SI_QUEUE});
}
CALL(alarm_clock, SYS_alarm, 0)
CALL(alarm_interval, SYS_getitimer, ITIMER_REAL, &(struct itimerval){0})
CALL(alarm_timer, SYS_timer_create, CLOCK_MONOTONIC, NULL, &(int){0})
NONSENSE(wait_for_signal, EAGAIN, SYS_rt_sigtimedwait, &(sigset_t){0}, NULL, &(struct timespec){0}, 8)

static struct rlimit limit = {64, 64};
CALL(limit_set, SYS_setrlimit, RLIMIT_CORE, &limit)
CALL(limit_set_new, SYS_prlimit64, 0, RLIMIT_CORE, &limit, NULL)
CALL(limit_set_host, SYS_prlimit64, host, RLIMIT_CORE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}, NULL)
CALL(limit_get_host, SYS_prlimit64, host, RLIMIT_CORE, NULL, &limit)
CALL(limit_get, SYS_prlimit64, 0, RLIMIT_CORE, NULL, &limit)

static struct sched_param parameter;
CALL(priority_get_host, SYS_getpriority, PRIO_PROCESS, host)
CALL(priority_set, SYS_setpriority, PRIO_PROCESS, 0, 1)
CALL(priority_set_host, SYS_setpriority, PRIO_PROCESS, host, getpriority(PRIO_PROCESS, (id_t)host))
CALL(priority_of_disk, SYS_ioprio_set, 1, 0, 0)
CALL(schedule_set, SYS_sched_setscheduler, 0, SCHED_OTHER, &parameter)
CALL(schedule_set_host, SYS_sched_setscheduler, host, SCHED_OTHER, &parameter)
CALL(schedule_get_host, SYS_sched_getscheduler, host)
CALL(schedule_attributes, SYS_sched_getattr, host, (char[64]){0}, 64, 0)
CALL(schedule_interval, SYS_sched_rr_get_interval, host, &(struct timespec){0})
CALL(processors_set, SYS_sched_setaffinity, 0, 8, (unsigned long[1]){~0UL})
CALL(processors_set_host, SYS_sched_setaffinity, host, 8, (unsigned long[1]){~0UL})
CALL(processors_get_host, SYS_sched_getaffinity, host, 128, (unsigned long[16]){0})
CALL(processors_get, SYS_sched_getaffinity, 0, 128, (unsigned long[16]){0})
