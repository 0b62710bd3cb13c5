// SPDX-License-Identifier: Apache-2.0

// Descriptors: the program gets 0, 1, 2, perhaps 3, and nothing that the warden had open.
#pragma once

#include <vector>

#include "sandbox/plan.h"

namespace mcpac::sandbox {

// In the child. Moves `report` to kReportDescriptor and the ruleset to kRulesetDescriptor. 0 or
// errno.
[[nodiscard]] int arrange_descriptors(const Plan& plan, int report);

// In a process that the warden forked: of others' pipes and sockets no end stays open in it. -1 in
// `kept` is none.
void close_all_but(std::vector<int> kept);

// In the warden: its /dev/null, opened once, never one of 0 to 3.
[[nodiscard]] int null_descriptor();

}  // namespace mcpac::sandbox
