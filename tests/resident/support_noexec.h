// A machine that forbids executable memory files (vm.memfd_noexec), for a piece of a test.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "resident/support_child.h"

namespace resident_test {

// Whether `work` said true under the strictest setting, as the first process of a namespace that
// has it.
template <class Work>
bool holds_without_executable_memory(Work work) {
  return holds_in_child([&] {
    if (::unshare(CLONE_NEWPID) != 0) return false;
    return holds_in_child([&] {
      const int file = ::open("/proc/sys/vm/memfd_noexec", O_WRONLY | O_CLOEXEC);
      return file >= 0 && ::write(file, "2", 1) == 1 && work();
    });
  });
}

}  // namespace resident_test
