// SPDX-License-Identifier: Apache-2.0

// A child that begins in another control group.
//
// clone3 has that, and libc does not offer it together with a stack of its own. Moving a process
// later is the slow way: the kernel stops all forks of the machine for it (measured: 16 ms for one
// move, 26 µs when another has just been made).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

namespace mcpac::sandbox {

struct IntoGroup {
  int group = -1;           // of the group's folder
  std::uint64_t flags = 0;  // as for clone(2), without the signal, which is SIGCHLD
  std::span<char> stack;    // a multiple of 16 bytes
  int* process = nullptr;   // becomes a pidfd
};

// As clone(2): the child runs `entry`. -1 with ENOSYS where there is no clone3, as in containers
// whose filter hides it.
[[nodiscard]] pid_t clone_into(const IntoGroup& how, int (*entry)(void*), void* argument);

}  // namespace mcpac::sandbox
