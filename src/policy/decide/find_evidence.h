// SPDX-License-Identifier: Apache-2.0

// Find evidence: the inputs of a decision, read off the verdicts of its layers.
#pragma once

#include <vector>

#include "policy/decide/decide.h"
#include "policy/evidence.h"

namespace mcpac::policy {

// Fills everything but `paths`. Slow for a denial where nothing matched: it says why.
void find_evidence(const std::vector<CompiledLayer>& layers, const std::vector<Verdict>& verdicts,
                   const CallUnderTest& call, const Times& times, Evidence& evidence);

// Of all rules that speak of the tool: whether they match a call makes no difference, or the
// program could choose by its arguments how much of them is kept.
[[nodiscard]] AuditLevel audit_level(const std::vector<CompiledLayer>& layers,
                                     const Permission& permission);
[[nodiscard]] bool weighs_arguments(const std::vector<CompiledLayer>& layers,
                                    const Permission& permission);
[[nodiscard]] std::vector<MeterReading> meter_readings(const std::vector<CompiledLayer>& layers,
                                                       const Permission& permission,
                                                       const Times& times);
// The usage that a reading was taken of; calls within the window of `rate` as if all were made now.
[[nodiscard]] Usage usage_of(const MeterReading& reading, const Times& times);

}  // namespace mcpac::policy
