// WritableToday: places that a changeset may still be applied to: those its run was granted, under
// the ceiling that the project has now.
#pragma once

#include "core/clock.h"
#include "execute/changes/apply.h"
#include "execute/changes/changeset.h"
#include "execute/project/folders.h"
#include "execute/project/project.h"

namespace mcpac::execute {

// An error where the rules cannot be loaded: then nothing is applied.
[[nodiscard]] Result<MayWrite> writable_today(const Project& project, const Folders& folders,
                                              const Clock& clock, const Changeset& changes);

}  // namespace mcpac::execute
