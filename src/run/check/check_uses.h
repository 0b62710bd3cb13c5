// SPDX-License-Identifier: Apache-2.0

// CheckUses: each call in the source, held against the authority that the run would have.
//
// A call with constant arguments that no rule admits fails whenever it is made, so it is said
// before anything is compiled. Only certainty refuses: what depends on the run is decided by the
// gate.
#pragma once

#include <string>

#include "analyzer/report.h"
#include "core/error.h"
#include "run/check/require_granted.h"

namespace mcpac::run {

// Says of every use in `report` what the grants, what the program declares and mcpac.policy
// together will make of it.
[[nodiscard]] Result<void> foresee_uses(const project::Project& project, const PolicyWorld& world,
                                        const policy::LayerText& granted, DeniedUses denied,
                                        analyzer::Report& report);

// The same, and then kUseDenied where a use will be denied and that is not meant.
[[nodiscard]] Result<void> require_admitted(const GrantCheck& parts, analyzer::Report& report,
                                            const policy::LayerText& granted, DeniedUses denied);

// The same by what the program declares alone; says nothing of uses that this does not deny.
[[nodiscard]] Result<void> require_declared(const PolicyWorld& world, analyzer::Report& report,
                                            DeniedUses denied);

}  // namespace mcpac::run
