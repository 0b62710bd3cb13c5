// SPDX-License-Identifier: Apache-2.0

#include "run/live/leftovers.h"

#include "audit/signing_key.h"
#include "core/abandoned.h"
#include "run/live/live_runs.h"

namespace mcpac::run {

void sweep_leftovers(const project::Folders& folders) {
  sweep_abandoned(folders.temporary);
  sweep_abandoned(folders.cache / "prepared");
  sweep_abandoned(folders.cache / "programs");
  sweep_abandoned(folders.state);
  sweep_abandoned(audit::key_folder(folders.audit()));
  sweep_dead_runs(folders.runs());
}

}  // namespace mcpac::run
