// Limits without cgroups: what works, and how, was measured (docs/architecture.md, "the sandbox").
#pragma once

#include "sandbox/plan.h"

namespace mcpac::sandbox {

// Bytes that the stack of its first thread may have.
[[nodiscard]] std::uint64_t stack_bytes(const Plan& plan);

// In the child. 0 or errno.
[[nodiscard]] int set_limits(const Plan& plan);

}  // namespace mcpac::sandbox
