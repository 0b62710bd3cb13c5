// SPDX-License-Identifier: Apache-2.0

// Times as text: RFC 3339, always UTC, always six digits of a second, so that texts sort as times
// do.
#pragma once

#include <chrono>
#include <string>

namespace mcpac {

// "2026-11-21T12:08:00.000123Z"
[[nodiscard]] std::string rfc3339_utc(std::chrono::system_clock::time_point time);

}  // namespace mcpac
