// Macro text: the text that a macro of the program would put into a header (rule
// macro-redefinition).
//
// To clang such text stands where the macro is used: in a header, whose declarations are not
// walked. All headers of the library and of the servers are precompiled, which no macro of a
// program reaches; one that is read with the program, or once more (assert.h), is reached by each
// name that stands in it, and by the reserved names that the library's macros are made of.
#pragma once

#include <clang-c/Index.h>

#include <vector>

#include "analyzer/clang/findings.h"
#include "analyzer/clang/sources.h"
#include "analyzer/clang/tokens.h"

namespace mcpac::analyzer {

// `tokens`: of all files of the program.
void check_macro_text(CXTranslationUnit unit, const Sources& sources,
                      const std::vector<Token>& tokens, Findings& findings);

}  // namespace mcpac::analyzer
