// SPDX-License-Identifier: Apache-2.0

// OS calls: functions and types of the standard library and of POSIX that reach the operating
// system.
//
// The sandbox stops them whatever their name is; this list only says so before the run. The list of
// moves_raw_bytes is a boundary of the analysis: what stands there is refused.
#pragma once

#include <string_view>

namespace mcpac::analyzer {

// Functions that a program that declares mcpac.files may reach.
inline constexpr char kReachedFiles[] = "files";

// Resources that the function reaches, in words ("files", "processes"); nullptr where it reaches
// none.
[[nodiscard]] const char* reached_by_function(std::string_view name);
[[nodiscard]] const char* reached_by_type(std::string_view name);
// Alternative to a function that the sandbox refuses though files were granted; nullptr for every
// other. What works on files that were granted read-write is not in here (chmod).
[[nodiscard]] const char* instead_on_granted_files(std::string_view name);
// Whether it reads standard input, which is empty in a run; of `stdin` itself that is not said.
[[nodiscard]] bool reads_standard_input(std::string_view name);
// Whether it reads, writes or renumbers open descriptors, such as the connection to the gate.
[[nodiscard]] bool moves_raw_bytes(std::string_view name);

}  // namespace mcpac::analyzer
