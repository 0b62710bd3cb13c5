// SPDX-License-Identifier: Apache-2.0

// Attenuate: the part of an authority that a program's own gate decides, where another gate behind
// it decides the calls (run/pipeline.h).
#pragma once

#include <set>

#include "run/check/authorities.h"

namespace mcpac::run {

// The layers of `whole`, in each of them the rules exchanged for one for each of `tools`: whether
// a layer admits a call, asks about it or counts it is the business of the gate behind, and done
// twice it would be asked and counted twice. What is left as it is: what the program declares, with
// its conditions; files and network, which the gate behind knows nothing of; and how much of the
// arguments may be recorded.
[[nodiscard]] Result<policy::Authority> attenuate(const policy::Authority& whole,
                                                  const std::set<Permission>& tools,
                                                  const PolicyWorld& world);

}  // namespace mcpac::run
