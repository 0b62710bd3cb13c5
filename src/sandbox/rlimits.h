// SPDX-License-Identifier: Apache-2.0

// Limits that every machine has; their effects were measured (docs/limits.md). Where there are
// control groups, those come on top (cgroup_leaf.h).
#pragma once

#include "sandbox/plan.h"

namespace mcpac::sandbox {

// Bytes that the stack of its first thread may have.
[[nodiscard]] std::uint64_t stack_bytes(const Plan& plan);

// In the child. 0 or errno.
[[nodiscard]] int set_limits(const Plan& plan);
// In a process that makes the program's calls: no file grows beyond what the program may write.
[[nodiscard]] int limit_file_size(const Plan& plan);

}  // namespace mcpac::sandbox
