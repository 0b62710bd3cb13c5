// SPDX-License-Identifier: Apache-2.0

// Definitions: the four tools of code mode, as clients see them.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "core/json.h"
#include "run/run_limits.h"

namespace mcpac::gateway::code_mode {

inline constexpr std::string_view kSearch = "search_tools";
inline constexpr std::string_view kDescribe = "describe_tools";
inline constexpr std::string_view kAnalyze = "analyze_agent";
inline constexpr std::string_view kExecute = "execute_agent";

// Of all four.
[[nodiscard]] std::set<std::string> names();
// The schema of `limits` says what `most` allows.
[[nodiscard]] Json definitions(const run::RunLimits& most);

}  // namespace mcpac::gateway::code_mode
