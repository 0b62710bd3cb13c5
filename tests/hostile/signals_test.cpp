// Signals, limits and scheduling.
#include <doctest/doctest.h>

#include "hostile/support_matrix.h"

namespace mcpac::hostile {

TEST_SUITE("hostile/signals") {
  TEST_CASE("a program signals itself and nobody else") {
    check({
        {"signal_host", "EPERM"},
        {"signal_all", "EPERM"},
        {"signal_group", "EPERM"},
        {"signal_group_of_host", "EPERM"},
        {"signal_parent", "EPERM"},
        {"signal_init", "works", Control::kWorks, "", "EPERM"},
        {"signal_thread_of_host", "EPERM"},
        {"signal_thread_old", "violated tkill"},
        {"signal_queue", "violated rt_sigqueueinfo"},
        {"signal_queue_thread", "violated rt_tgsigqueueinfo"},
        {"signal_itself", "works"},
        {"signal_kernel_forged", "violated rt_sigqueueinfo"},
    });
  }

  TEST_CASE("no timer of the kernel sends signals") {
    check({
        {"alarm_clock", "EPERM"},
        {"alarm_interval", "EPERM"},
        {"alarm_timer", "EPERM"},
        {"wait_for_signal", "EPERM"},
    });
  }

  TEST_CASE("no limit is changed, of nobody") {
    check({
        {"limit_set", "EPERM"},
        {"limit_set_new", "EPERM"},
        {"limit_set_host", "EPERM"},
        {"limit_get_host", "EPERM"},
        {"limit_get", "works"},
    });
  }

  TEST_CASE("no schedule is changed, of nobody") {
    check({
        {"priority_get_host", "EPERM"},
        {"priority_set", "EPERM"},
        {"priority_set_host", "EPERM"},
        {"priority_of_disk", "violated ioprio_set"},
        {"schedule_set", "EPERM"},
        {"schedule_set_host", "EPERM"},
        {"schedule_get_host", "EPERM"},
        {"schedule_attributes", "violated sched_getattr"},
        {"schedule_interval", "violated sched_rr_get_interval"},
        {"processors_set", "EPERM"},
        {"processors_set_host", "EPERM"},
        {"processors_get_host", "EPERM"},
        {"processors_get", "works"},
    });
  }
}

}  // namespace mcpac::hostile
