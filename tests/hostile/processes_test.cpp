// Processes: making them, and the memory and handles of others.
#include <doctest/doctest.h>

#include "hostile/support_matrix.h"

namespace mcpac::hostile {

TEST_SUITE("hostile/processes") {
  TEST_CASE("no process is made") {
    check({
        {"make_fork", "EPERM"},
        {"make_vfork", "EPERM"},
        {"make_vfork_call", "EPERM"},
        {"make_clone", "EPERM"},
        {"make_sibling", "EPERM"},
        {"make_silent", "EPERM"},
        {"make_clone3", "ENOSYS"},
        {"make_thread_traced", "violated clone"},
        {"make_thread_with_handle", "violated clone"},
        {"fork_bomb", "EPERM", Control::kApart},
        {"orphan", "EPERM", Control::kApart},
        {"wait_for_any", "EPERM"},
        {"parent_of", "EPERM"},
        {"session_of_host", "EPERM"},
        {"group_of_host", "EPERM"},
        {"session_new", "EPERM", Control::kNone, "the control leads a session already"},
    });
  }

  TEST_CASE("no other process is traced, read, written or held") {
    check({
        {"trace_me", "violated ptrace"},
        {"trace_host", "violated ptrace"},
        {"memory_read", "violated process_vm_readv"},
        {"memory_read_host", "violated process_vm_readv"},
        {"memory_write_host", "violated process_vm_writev"},
        {"memory_advise_host", "violated pidfd_open"},
        {"memory_release_host", "violated pidfd_open"},
        {"memory_move_host", "violated move_pages"},
        {"compare_with_host", "violated kcmp"},
        {"robust_list_of_host", "violated get_robust_list"},
        {"handle_of_host", "violated pidfd_open"},
        {"handle_signal_host", "violated pidfd_open"},
        {"handle_of_self", "violated pidfd_open"},
    });
  }
}

}  // namespace mcpac::hostile
