// Own templates: whether a program defines templates of its own.
//
// Clang instantiates what is left of all templates at the end of a source file; most of the time
// that it needs for a short program goes there, into the bodies of the library's functions. What a
// program does with its tools stands in such a body only where the template is the program's own,
// so every other program is read as if it were the beginning of a file
// (CXTranslationUnit_Incomplete), which leaves that work out. The compiler does it all the same,
// and its errors are errors.
//
// Both questions err to one side: a doubt is a template.
#pragma once

#include <clang-c/Index.h>

#include <string_view>
#include <vector>

#include "analyzer/clang/sources.h"
#include "analyzer/clang/tokens.h"

namespace mcpac::analyzer {

// A guess before anything is parsed, which only saves time: reading a program twice costs more than
// reading it whole.
[[nodiscard]] bool looks_templated(std::string_view text);

// Whether the tokens of one file may declare a template: a keyword, an `auto` that may be a
// parameter, the
// `<` of a lambda, tokens pasted together.
[[nodiscard]] bool may_declare_templates(const std::vector<Token>& tokens);

// Whether clang found a template in the program's own files, whatever macro wrote it.
[[nodiscard]] bool has_templates(CXTranslationUnit unit, const Sources& sources);

}  // namespace mcpac::analyzer
