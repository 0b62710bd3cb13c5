// Limits without cgroups: what works, and how, was measured (docs/architecture.md, "the sandbox").
#pragma once

#include "sandbox/plan.h"

namespace mcpac::sandbox {

// In the child. 0 or errno.
[[nodiscard]] int set_limits(const Plan& plan);

}  // namespace mcpac::sandbox
