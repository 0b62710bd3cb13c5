// OS calls: functions and types of the standard library and of POSIX that reach the operating
// system.
//
// The sandbox stops them whatever their name is; this list only says so before the run.
#pragma once

#include <string_view>

namespace mcpac::analyzer {

// What the function reaches, in words ("files", "processes"); nullptr where it reaches nothing.
[[nodiscard]] const char* reached_by_function(std::string_view qualified_name);
[[nodiscard]] const char* reached_by_type(std::string_view qualified_name);

}  // namespace mcpac::analyzer
