// The rule that admits a call that is known in part, and little else.
#pragma once

#include <string>

#include "core/permission.h"
#include "policy/foresight.h"

namespace mcpac::policy {

// As after --grant. What is known becomes a test, what is not may be anything; lists and long texts
// may be any. `schema` is that of the tool; null for control permissions.
[[nodiscard]] std::string least_rule(const Permission& permission, const CallInSource& call,
                                     const Json* schema);
// Without brackets: any call of the tool.
[[nodiscard]] std::string whole_tool(const Permission& permission);

}  // namespace mcpac::policy
