// SPDX-License-Identifier: Apache-2.0

#include "sandbox/trial.h"

#include <sys/wait.h>

#include "sandbox/descriptors.h"
#include "sandbox/machine.h"

namespace mcpac::sandbox {

Plan trial_plan() {
  Plan plan;
  plan.standard_input = plan.standard_output = plan.standard_error = null_descriptor();
  plan.user = kFirstOwnId;
  return plan;
}

Trial try_out(Plan& plan) {
  const Launched launched = launch(plan);
  Trial trial{launched.failure, 0, static_cast<bool>(launched.listener)};
  if (trial.failure.layer == Layer::kNone) ::waitpid(launched.pid, &trial.status, 0);
  return trial;
}

}  // namespace mcpac::sandbox
