// SPDX-License-Identifier: Apache-2.0

// Attributes: check for those that change a program behind the analysis (rule attribute).
//
// Twice looked at: as spelled in every line of the program, also a skipped one, and as the compiler
// attached them, so that a macro of the system or a pasted word hides none.
#pragma once

#include <vector>

#include "analyzer/clang/findings.h"
#include "analyzer/clang/tokens.h"

namespace mcpac::analyzer {

void check_attributes(const std::vector<Token>& tokens, Findings& findings);
// An attribute of a declaration, as a cursor.
void check_attribute(CXCursor attribute, const Sources& sources, Findings& findings);

}  // namespace mcpac::analyzer
