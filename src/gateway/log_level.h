// SPDX-License-Identifier: Apache-2.0

// The levels of MCP's log messages (RFC 5424), in the order of their severity.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace mcpac::gateway {

inline constexpr std::array<std::string_view, 8> kLogLevels = {
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"};

// 0 for "debug"; 8 for a text that is none.
[[nodiscard]] constexpr std::size_t severity(std::string_view level) {
  return static_cast<std::size_t>(std::ranges::find(kLogLevels, level) - kLogLevels.begin());
}
[[nodiscard]] constexpr bool is_log_level(std::string_view level) {
  return severity(level) < kLogLevels.size();
}

}  // namespace mcpac::gateway
