// The rule for a tool, whatever it is called with.
#pragma once

#include <string>

#include "core/permission.h"

namespace mcpac::policy {

// Without brackets: any call of the tool.
[[nodiscard]] std::string whole_tool(const Permission& permission);

}  // namespace mcpac::policy
