// Lookups: search_tools and describe_tools, over the tools that a client may call.
#pragma once

#include "core/json.h"
#include "gateway/code_mode/granted_view.h"

namespace mcpac::gateway::code_mode {

// `arguments` are those that the tool's schema lets through; the answers are structured contents.
[[nodiscard]] Json search(const GrantedView& view, const Json& arguments);
[[nodiscard]] Json describe(const GrantedView& view, const Json& arguments);

}  // namespace mcpac::gateway::code_mode
