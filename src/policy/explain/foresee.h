// SPDX-License-Identifier: Apache-2.0

// Foresee: the answer of layers to a call that is known in part.
#pragma once

#include <vector>

#include "core/work.h"
#include "policy/compare/possible.h"
#include "policy/foresight.h"

namespace mcpac::policy {

// The call with what its schema adds to it. An error where the schema does not compile.
[[nodiscard]] Result<PossibleCall> possible_call(const Permission& permission,
                                                 const CallInSource& call, const Json* schema);

// The strictest answer of all layers; `schema` is that of the tool, null for control permissions.
// With Lifted::kUngranted it is told by a layer that refuses it still, where there is one.
[[nodiscard]] Foresight foresee_layers(const std::vector<CompiledLayer>& layers,
                                       const Permission& permission, const CallInSource& call,
                                       const Json* schema, const Environment& environment,
                                       Lifted lifted = Lifted::kNothing);

// Whether it could be allowed, without why and without advice. kDenied also where `work` does not
// suffice to tell: of what others make many, each is asked about.
[[nodiscard]] Outlook outlook_of(const std::vector<CompiledLayer>& layers,
                                 const Permission& permission, const CallInSource& call,
                                 const Json* schema, Work& work);

}  // namespace mcpac::policy
