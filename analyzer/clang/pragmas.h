// Pragmas: the few that are harmless, the ones that hide or link something, and the unknown rest.
#pragma once

#include <span>

#include "analyzer/clang/findings.h"
#include "analyzer/clang/tokens.h"

namespace mcpac::analyzer {

// `words` is what stands behind #pragma.
void check_pragma(std::span<const Token> words, const Place& place, Findings& findings);

}  // namespace mcpac::analyzer
