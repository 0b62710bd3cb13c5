// SPDX-License-Identifier: Apache-2.0

// Definitions: one file's definitions of the names that it shares with the program's other files.
//
// The linker believes that one name is one thing: two files in which a struct has other members, an
// inline function another body or a variable another type compile and link, and each was analysed
// as something that the program is not. So every shared name is kept with its shape, and two shapes
// of one name are refused. A shape is the tree as the compiler understood it, not the text: macros
// and conditions are done, and a header that reads differently in two files is seen.
//
// Not covered: a template whose explicit specialisation only one of the files can see.
#pragma once

#include <clang-c/Index.h>

#include <map>
#include <string>

#include "analyzer/clang/sources.h"

namespace mcpac::analyzer {

struct Definition {
  std::string shape;  // a digest
  std::string name;   // qualified, for messages
  std::string file;
  Place place;
};

// By the name that the linker or the language knows it under (USR), declarations and definitions
// apart.
using Definitions = std::map<std::string, Definition>;

// The name of a definition, as opposed to a declaration.
[[nodiscard]] std::string defined_key(const std::string& usr);

[[nodiscard]] Definitions definitions_of(CXTranslationUnit unit, const Sources& sources);

}  // namespace mcpac::analyzer
