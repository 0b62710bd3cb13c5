// SPDX-License-Identifier: Apache-2.0

// Tree memory: memory of a process and its descendants, each page counted once.
//
// A worker's tools wait as processes of their own and share pages with it and with each other, so
// the sum of what each has (RSS) would count those again and again. The kernel's proportional share
// (PSS) does not; where it hides that, as for sandboxed processes, RSS stands in.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace mcpac::cli {

// In bytes; 0 where the process is gone.
[[nodiscard]] std::uint64_t tree_memory(pid_t process);

}  // namespace mcpac::cli
