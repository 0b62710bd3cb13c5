// SPDX-License-Identifier: Apache-2.0

// WritableToday: places that a changeset may still be applied to: those its run was granted, under
// the ceiling that the project has now.
#pragma once

#include "core/clock.h"
#include "history/changes/apply.h"
#include "history/changes/changeset.h"
#include "project/folders.h"
#include "project/project.h"

namespace mcpac::run {

// An error where the rules cannot be loaded: then nothing is applied.
[[nodiscard]] Result<history::MayWrite> writable_today(const project::Project& project,
                                                       const project::Folders& folders,
                                                       const Clock& clock,
                                                       const history::Changeset& changes);

}  // namespace mcpac::run
