// Path readings: what a string that nobody promised to be a path may name.
//
// A deny or ask over "*" looks at every string of a call. What a path test refuses elsewhere is
// read here as a server might read it: control bytes, a backslash and any length stand, other
// normal forms are composed, "~" is the home and "file:" a path. A text that names nothing of
// interest by any of these readings is an ordinary text, and is let through.
#pragma once

#include <string_view>
#include <vector>

#include "policy/match/path_value.h"

namespace mcpac::policy {

// None for what no file system could open: nothing, or longer than a path even when tidied.
[[nodiscard]] std::vector<PathValue> path_readings(std::string_view text, std::string_view home);

}  // namespace mcpac::policy
