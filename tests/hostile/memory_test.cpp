// Memory that is shared, hidden, or where no limit counts it.
#include <doctest/doctest.h>

#include "hostile/support_matrix.h"

namespace mcpac::hostile {

TEST_SUITE("hostile/memory") {
  TEST_CASE("no memory is shared, locked or hidden from the limits") {
    check({
        {"share_anonymous", "EPERM"},
        {"share_validated", "EPERM"},
        {"share_zero_device", "EPERM"},
        {"share_system_v", "violated shmget"},
        {"semaphores", "violated semget"},
        {"messages", "violated msgget"},
        {"messages_posix", "violated mq_open"},
        {"map_droppable", "violated mmap"},
        {"map_as_stack", "EPERM"},
        {"map_leaked_file", "EBADF"},
        {"lock_pages", "EPERM"},
        {"lock_everything", "violated mlockall"},
        {"lock_by_map", "EPERM"},
        {"resident_pages", "EPERM"},
        {"protection_key", "violated pkey_alloc"},
        {"move_file_pages", "violated remap_file_pages"},
        {"poison_page", "violated madvise"},
        {"keep_over_fork", "EINVAL"},
        {"merge_pages", "EINVAL"},
        {"seal_pages", "ENOSYS"},
    });
  }

  TEST_CASE("the memory of the program is its own, also to write code into") {
    check({
        {"write_code", "works"},
    });
  }
}

}  // namespace mcpac::hostile
