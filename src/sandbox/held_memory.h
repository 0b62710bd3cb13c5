// SPDX-License-Identifier: Apache-2.0

// Memory and threads of a process, as the kernel counts them: the look that works on every machine.
//
// RLIMIT_DATA counts what is writable now, and is meant for programs that do not hide from it:
// pages that are made read-only after they were filled are not counted any more, and neither is
// what grew out of the stack. So the warden looks, some times a second, and ends what holds more.
// Between two looks a program can take as much as the machine gives it in that time, and never more
// than RLIMIT_AS. In a control group (cgroup_leaf.h) there is no such time.
// Threads are looked at likewise where neither RLIMIT_NPROC nor a group counts them: without
// namespaces, under the caller's own id.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "sandbox/plan.h"

namespace mcpac::sandbox {

// Whether pages of files that lie in memory (a tmpfs) count. Only a compiler can make memory that
// is shared (seccomp_rules.cpp), so a program that was granted files has such pages of these files
// alone, and they were there before it; one without files has no reason to have any.
enum class FilesInMemory : std::uint8_t { kCount, kGranted };
[[nodiscard]] FilesInMemory files_in_memory(const Plan& plan);

struct Held {
  std::uint64_t memory = 0;  // bytes of its own, in memory or swapped out; files on disk left out
  std::uint64_t threads = 0;
};
// Zeros where it is not known.
[[nodiscard]] Held held_by(pid_t process, FilesInMemory files);
// Memory of the process and its descendants together: memory that some of them share is counted
// once. Only above `most` is that looked at so closely; below, what is told may be too much.
[[nodiscard]] std::uint64_t held_by_all_below(pid_t process, std::uint64_t most);
// Theirs as well.
[[nodiscard]] std::uint64_t threads_of_all_below(pid_t process);

// Above which a child of this plan is ended; 0: never. As large as its control group would be: its
// stack and the pages of its program are not part of what RLIMIT_DATA counts.
[[nodiscard]] std::uint64_t most_held_memory(const Plan& plan);

}  // namespace mcpac::sandbox
