// SPDX-License-Identifier: Apache-2.0

// Implied: a project without servers has nothing to approve, so it needs no lock.
#pragma once

#include "codegen/generate.h"
#include "project/project.h"

namespace mcpac::project {

// Output of `mcpac generate` for a project that names no server and has no lock; null for every
// other. Lives as long as the process.
[[nodiscard]] const codegen::Output* implied_output(const Project& project);

}  // namespace mcpac::project
