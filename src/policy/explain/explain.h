// Explain: the layers of an authority applied to one call, rule by rule.
#pragma once

#include <optional>
#include <vector>

#include "policy/decide/decide.h"
#include "policy/explanation.h"

namespace mcpac::policy {

// What one layer says of the call: `verdict` is what decide_layer answered.
[[nodiscard]] LayerExplanation explain_layer(const CompiledLayer& layer, const Verdict& verdict,
                                             const CallUnderTest& call, const Times& times);

// How path tests of the layers read the strings of this call; nothing where none speaks of the
// tool.
[[nodiscard]] std::optional<PathReading> path_reading(const std::vector<CompiledLayer>& layers,
                                                      const Permission& permission,
                                                      const Environment& environment);

}  // namespace mcpac::policy
