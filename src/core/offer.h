// SPDX-License-Identifier: Apache-2.0

// Offers: a server's features besides tools, by their names in grants.
//
// Reading a resource and getting a prompt are calls like any other, decided as
// server."resources/read"(uri …) and server."prompts/get"(name …, arguments.x …): tools that no
// lock holds, with schemas of ours. A server's own tool of such a name would be granted by the same
// rule, so it is left out wherever tools are read (mcp/list_tools.h).
#pragma once

#include <optional>
#include <string_view>

#include "core/json.h"

namespace mcpac {

enum class Offer : std::uint8_t { kResource, kPrompt };

inline constexpr std::string_view kReadResource = "resources/read";
inline constexpr std::string_view kGetPrompt = "prompts/get";

// Nothing for the name of a tool.
[[nodiscard]] std::optional<Offer> offer_named(std::string_view tool);
// The method of MCP, which is the name.
[[nodiscard]] std::string_view name_of(Offer offer);
// The input schema: of a URI that different readers take for different places nothing is read.
[[nodiscard]] const Json& schema_of(Offer offer);

}  // namespace mcpac
