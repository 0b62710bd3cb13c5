// Foresee: the answer of layers to a call of which only a part is known.
#pragma once

#include <vector>

#include "policy/compare/possible.h"
#include "policy/foresight.h"

namespace mcpac::policy {

// The call with what its schema adds to it. An error where the schema does not compile.
[[nodiscard]] Result<PossibleCall> possible_call(const Permission& permission,
                                                 const CallInSource& call, const Json* schema);

// The strictest answer of all layers; `schema` is that of the tool, null for control permissions.
[[nodiscard]] Foresight foresee_layers(const std::vector<CompiledLayer>& layers,
                                       const Permission& permission, const CallInSource& call,
                                       const Json* schema);

}  // namespace mcpac::policy
