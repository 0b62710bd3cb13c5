// SPDX-License-Identifier: Apache-2.0

// Limits of a page of a list, and the prefix of its cursor (MCP 2025-11-25, Pagination).
#pragma once

#include <cstddef>
#include <string_view>

namespace mcpac::gateway {

inline constexpr std::size_t kPageEntries = 250;
inline constexpr std::size_t kPageBytes = std::size_t{1} << 20U;
// The name that the page before ended with follows.
inline constexpr std::string_view kCursor = "after:";

}  // namespace mcpac::gateway
