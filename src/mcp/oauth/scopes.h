// SPDX-License-Identifier: Apache-2.0

// Scopes: words separated by spaces, in the order in which they were first seen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mcpac::mcp::oauth {

[[nodiscard]] std::vector<std::string> split_scopes(std::string_view text);
[[nodiscard]] std::string join_scopes(const std::vector<std::string>& scopes);
// Everything of both, each once.
[[nodiscard]] std::string unite_scopes(std::string_view one, std::string_view other);
[[nodiscard]] bool contains_scopes(std::string_view all, std::string_view wanted);

}  // namespace mcpac::mcp::oauth
