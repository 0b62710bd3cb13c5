// SPDX-License-Identifier: Apache-2.0

// Lead: the main file that the analyzer and the compiler give to clang instead of a program.
//
// It includes two files beside it: one that is read before the program is known, and one that names
// the program's source. Where a tool waits for a program, the second is a pipe, and the first holds
// what programs use; else the first is empty. That is all that differs: a program stands as deep in
// the inclusions, and means the same, whether a tool waited for it or not (docs/adr/0042).
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace mcpac::analyzer::lead {

// Places inside the sandboxes of both. Nothing else lies in the folder.
inline constexpr char kFolder[] = "/lead";
inline constexpr char kMain[] = "/lead/main.cpp";
inline constexpr char kBefore[] = "/lead/before";
inline constexpr char kSource[] = "/lead/source";

inline constexpr std::string_view kMainText = "#include \"before\"\n#include \"source\"\n";

// The text of kSource. A path that no #include can hold is an error.
[[nodiscard]] Result<std::string> naming(std::string_view source_path);

[[nodiscard]] bool is_part(std::string_view path);

}  // namespace mcpac::analyzer::lead
