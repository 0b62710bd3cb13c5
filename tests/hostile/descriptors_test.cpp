// Descriptors: leaked, copied, passed, and new ones.
#include <doctest/doctest.h>

#include "hostile/support_matrix.h"

namespace mcpac::hostile {

TEST_SUITE("hostile/descriptors") {
  TEST_CASE("nothing that the host has open is open inside") {
    check({
        {"leaked_descriptors", "works 0 1 2 3"},
        {"leaked_status", "EBADF"},
        {"leaked_folder", "EACCES"},
        {"leaked_folder_enter", "EACCES"},
        {"list_channel", "EACCES"},
    });
  }

  TEST_CASE("no descriptor is copied, stolen or given an owner") {
    check({
        {"copy_dup", "EPERM"},
        {"copy_dup2", "EPERM"},
        {"copy_dup3", "EPERM"},
        {"copy_fcntl", "EPERM"},
        {"copy_fcntl_closing", "EPERM"},
        {"close_many", "violated close_range"},
        {"steal_from_host", "violated pidfd_open"},
        {"owner_set", "EPERM"},
        {"owner_get", "EPERM"},
        {"owner_signal", "EPERM"},
        {"lock_record", "EPERM"},
        {"lock_file", "EPERM"},
        {"lease", "EPERM"},
        {"notify", "EPERM"},
        {"pipe_grow", "EPERM"},
        {"pipe_size", "EPERM"},
    });
  }

  TEST_CASE("no descriptor is passed out or taken in") {
    check({
        {"pass_out", "EPERM"},
        {"pass_out_many", "EPERM"},
        {"take_in", "EPERM"},
        {"take_in_many", "EPERM"},
    });
  }

  TEST_CASE("no new kind of descriptor is made") {
    check({
        {"new_pipe", "EPERM"},
        {"new_pipe2", "EPERM"},
        {"new_event", "EPERM"},
        {"new_epoll", "EPERM"},
        {"new_timer", "EPERM"},
        {"new_signal", "EPERM"},
        {"new_memory_file", "EPERM"},
        {"new_secret_memory", "violated memfd_secret"},
        {"new_fault_handler", "violated userfaultfd"},
    });
  }

  TEST_CASE("no bytes move past read and write") {
    check({
        {"move_sendfile", "EPERM"},
        {"move_splice", "EPERM"},
        {"move_tee", "EPERM"},
        {"move_memory", "violated vmsplice"},
        {"move_range", "EPERM"},
        {"move_pread", "EPERM"},
        {"move_pwrite", "EPERM"},
        {"move_preadv2", "violated preadv2"},
        {"sync_file", "EPERM"},
    });
  }
}

}  // namespace mcpac::hostile
