/* Interfaces of the kernel that few programs need: each one has had holes. */
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>

#include "cases.h"

CASE(bpf_map) {
  union bpf_attr how = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
  return syscall(SYS_bpf, BPF_MAP_CREATE, &how, sizeof how);
}
CASE(perf_counter) {
  struct perf_event_attr how = {.type = PERF_TYPE_SOFTWARE, .size = sizeof how, .exclude_kernel = 1};
  return syscall(SYS_perf_event_open, &how, 0, -1, -1, 0);
}
CALL(key_add, SYS_add_key, "user", "mcpac", "x", 1, -2 /* process */)
CALL(key_session, SYS_keyctl, 0 /* get */, -2, 1)
CASE(key_request) {
  return looked_at(syscall(SYS_request_key, "user", "mcpac-none", NULL, -2), ENOKEY);
}
CALL(ring_setup, SYS_io_uring_setup, 1, (char[256]){0})
NONSENSE(ring_enter, EOPNOTSUPP, SYS_io_uring_enter, 0, 0, 0, 0, NULL, 0)
CALL(async_io, SYS_io_setup, 1, &(unsigned long){0})
CALL(module_load, SYS_init_module, "", 0, "")
CALL(module_load_file, SYS_finit_module, -1, "", 0)
CALL(module_remove, SYS_delete_module, "mcpac_none", 0)
CALL(kexec, SYS_kexec_load, 0, 0, NULL, 0)
CALL(restart, SYS_reboot, 0, 0, 0, NULL)
NONSENSE(swap_on, ENOENT, SYS_swapon, "/none", 0)
NONSENSE(account, ENOENT, SYS_acct, "/none")
NONSENSE(quota, ENODEV, SYS_quotactl, 0, NULL, 0, NULL)
CASE(kernel_log) {
  return syscall(SYS_syslog, 10 /* size */, NULL, 0);
}
CALL(port_level, SYS_iopl, 3)
CALL(port_allow, SYS_ioperm, 0x80, 1, 1)
CALL(segment_table, SYS_modify_ldt, 0, (char[64]){0}, 64)
NONSENSE(clock_set, EINVAL, SYS_clock_settime, CLOCK_REALTIME, &(struct timespec){.tv_nsec = -1})
CALL(clock_adjust, SYS_adjtimex, (char[256]){0})
CALL(day_set, SYS_settimeofday, NULL, NULL)
CALL(hang_up, SYS_vhangup)
CALL(old_library, SYS_uselib, "/none")
CALL(directory_cookie, SYS_lookup_dcookie, 0, NULL, 0)
CALL(policy_of_memory, SYS_set_mempolicy, 0, NULL, 0)
CALL(number_unknown, 1000)

/* Answers that say nothing: libraries fall back on these. */
CASE(name_of_machine) {
  struct utsname name;
  return syscall(SYS_uname, &name);
}
CALL(load_of_machine, SYS_sysinfo, (char[256]){0})
CASE(usage_of_children) {
  struct rusage usage;
  return syscall(SYS_getrusage, RUSAGE_CHILDREN, &usage);
}
CALL(barrier_of_all, SYS_membarrier, 0, 0, 0)

/* Clocks and futexes reach into other processes and into drivers. */
CASE(clock_of_host) {
  struct timespec now;
  return syscall(SYS_clock_gettime, (~host << 3) | 2, &now);
}
CALL(futex_inheriting, SYS_futex, &(uint32_t){0}, 6, 0, NULL, NULL, 0)
NONSENSE(futex_vector, EINVAL, 449 /* futex_waitv */, (uint64_t[6]){0}, 0, 0, NULL, 0)

/* The same kernel by other doors. */
CALL(number, atol(word), 0, 0, 0, 0, 0, 0)
static long by_interrupt(long number) {
  __asm__ volatile("int $0x80" : "+a"(number) : "b"(0), "c"(0), "d"(0) : "memory");
  return number;
}
CASE(door_interrupt) { return looked_at(by_interrupt(atol(word)), ENOSYS); }
CASE(door_vsyscall) {
  long (*now)(long*) = (long (*)(long*))0xffffffffff600400; /* time */
  return now(NULL) > 0 ? 0 : -1;
}
CALL(thread_pointer, SYS_arch_prctl, 0x1004 /* read GS */, &(unsigned long){0})
CALL(no_processor_id, SYS_arch_prctl, 0x1011 /* is CPUID on? */)
