// Interfaces of the kernel that few programs need, and other doors to it.
#include <doctest/doctest.h>

#include "hostile/support_matrix.h"

namespace mcpac::hostile {

TEST_SUITE("hostile/kernel") {
  TEST_CASE("the interfaces that few programs need end the program") {
    check({
        {"bpf_map", "violated bpf"},
        {"perf_counter", "violated perf_event_open"},
        {"key_add", "violated add_key"},
        {"key_session", "violated keyctl"},
        {"key_request", "violated request_key"},
        {"ring_setup", "violated io_uring_setup"},
        {"ring_enter", "violated io_uring_enter"},
        {"async_io", "violated io_setup"},
        {"module_load", "violated init_module", Control::kNone, "not in every kernel"},
        {"module_load_file", "violated finit_module", Control::kNone, "not in every kernel"},
        {"module_remove", "violated delete_module", Control::kNone, "not in every kernel"},
        {"kexec", "violated kexec_load", Control::kNone, "not in every kernel"},
        {"restart", "violated reboot", Control::kNone, "would restart the machine"},
        {"swap_on", "violated swapon"},
        {"account", "violated acct"},
        {"quota", "violated quotactl"},
        {"kernel_log", "violated syslog"},
        {"port_level", "violated iopl", Control::kNone, "not in every kernel"},
        {"port_allow", "violated ioperm", Control::kNone, "not in every kernel"},
        {"segment_table", "violated modify_ldt"},
        {"clock_set", "violated clock_settime"},
        {"clock_adjust", "violated adjtimex"},
        {"day_set", "violated settimeofday"},
        {"hang_up", "violated vhangup", Control::kApart},
        {"old_library", "violated uselib", Control::kNone, "not in every kernel"},
        {"directory_cookie", "violated lookup_dcookie", Control::kNone, "not in every kernel"},
        {"policy_of_memory", "violated set_mempolicy"},
        {"number_unknown", "violated system call 1000", Control::kNone, "no kernel has it"},
    });
  }

  TEST_CASE("what libraries ask about the machine is not answered") {
    check({
        {"name_of_machine", "ENOSYS"},
        {"load_of_machine", "ENOSYS"},
        {"usage_of_children", "ENOSYS"},
        {"barrier_of_all", "ENOSYS"},
    });
  }

  TEST_CASE("clocks and futexes reach nobody else") {
    check({
        {"clock_of_host", "EINVAL"},
        {"futex_inheriting", "ENOSYS"},
        {"futex_vector", "ENOSYS"},
    });
  }

  TEST_CASE("the other doors into the kernel are shut") {
    check({
        {"door_vsyscall", "works"},
        {"thread_pointer", "EINVAL"},
        {"no_processor_id", "EINVAL"},
    });
  }
}

}  // namespace mcpac::hostile
