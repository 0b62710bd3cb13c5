// SPDX-License-Identifier: Apache-2.0

// A trial: a sandbox that is built like any other and starts no program. What it does is what the
// machine gives.
#pragma once

#include "sandbox/launch.h"
#include "sandbox/plan.h"

namespace mcpac::sandbox {

// Result of a trial: the layer that failed, or the child's wait status.
struct Trial {
  Failure failure;
  int status = 0;
  bool listener = false;  // one was handed over
  [[nodiscard]] bool works() const { return failure.layer == Layer::kNone && status == 0; }
};

[[nodiscard]] Plan trial_plan();
[[nodiscard]] Trial try_out(Plan& plan);

}  // namespace mcpac::sandbox
