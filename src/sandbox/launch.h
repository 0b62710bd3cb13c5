// SPDX-License-Identifier: Apache-2.0

// Launch: one clone, and what became of it.
#pragma once

#include <sys/types.h>

#include "core/file.h"
#include "sandbox/plan.h"
#include "sandbox/step.h"

namespace mcpac::sandbox {

struct Launched {
  pid_t pid = -1;
  UniqueFd process;   // pidfd
  UniqueFd listener;  // of its filter, where the plan has one
  Failure failure;    // layer kNone: the program runs
};

// Starts the plan and waits until its program runs or a layer failed; then the child is already
// gone. A trial (plan.program < 0) without failure still has to be waited for.
[[nodiscard]] Launched launch(Plan& plan);

}  // namespace mcpac::sandbox
