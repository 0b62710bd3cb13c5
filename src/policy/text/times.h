// SPDX-License-Identifier: Apache-2.0

// Times as rules write them: `until 2026-06-01T12:00:00Z`, `for 15m`.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace mcpac::policy {

// RFC 3339, section 5.6: date, time, optional fraction, "Z" or an offset. Nothing for anything
// else; a leap second is read as the second after it.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> parse_rfc3339(
    std::string_view text);
// A whole number and s, m, min, h or d; above zero, at most ten years.
[[nodiscard]] std::optional<std::chrono::seconds> parse_duration(std::string_view text);

}  // namespace mcpac::policy
