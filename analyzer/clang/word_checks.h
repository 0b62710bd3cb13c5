// SPDX-License-Identifier: Apache-2.0

// Word checks: checks of single tokens of the program's text before it is parsed (rules
// build-clock, analysis-probe, pasted-word, explicit-instantiation, module-import; code-pointer for
// a builtin).
#pragma once

#include <vector>

#include "analyzer/clang/findings.h"
#include "analyzer/clang/tokens.h"

namespace mcpac::analyzer {

// All over all files of the program: a macro or a piece of a word may come from another file.
void check_words(const std::vector<Token>& tokens, Findings& findings);
void check_pasting(const std::vector<Token>& tokens, Findings& findings);
// The headers of `for` and `switch` (rule hidden-body).
void check_headers(const std::vector<Token>& tokens, Findings& findings);

}  // namespace mcpac::analyzer
