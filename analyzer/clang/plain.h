// SPDX-License-Identifier: Apache-2.0

// Plain: declarations that are the same in all files of a program, whatever else each file
// includes.
//
// The linker takes the functions and variables that several files share from one of them. Those
// whose shape differs are refused (definitions.h), but a shape does not show what a concept, a
// member of a template or an operand of sizeof is in each file. So a value is told before the run
// of several files only where it is made of literals, operators, and names that are themselves
// made so.
#pragma once

#include <clang-c/Index.h>

namespace mcpac::analyzer {

// A template, a member of one, or what was made from one.
[[nodiscard]] bool is_made_from_template(CXCursor declaration);

// Whether nothing but literals, operators, casts and names of such values is in the expression.
[[nodiscard]] bool is_plain(CXCursor expression);

// Whether no other file of the program can see the declaration.
[[nodiscard]] bool is_of_this_file(CXCursor declaration);

}  // namespace mcpac::analyzer
