// Doxygen comments of the generated headers. Everything in them is the server's own word, made
// safe.
#pragma once

#include <string>

#include "codegen/model.h"

namespace mcpac::codegen {

// "/// …\n" lines at `indent` spaces; empty where there is nothing to say.
[[nodiscard]] std::string comment(const Words& words, std::size_t indent);

// The same for a tool: title, description, its claims, one @param a field, and what a call throws.
[[nodiscard]] std::string tool_comment(const ToolModel& tool, std::size_t indent);

}  // namespace mcpac::codegen
