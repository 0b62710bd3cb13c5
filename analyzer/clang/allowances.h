// Allowances: `// mcpac-allow: RULE reason`, on the line of a finding or on the line above it.
//
// Only rules that warn can be allowed: what refuses a program must not be switched off by the
// program itself. The finding stays in the report, with the reason; a comment that allows nothing
// is a note, one that cannot allow anything warns (rules allow-form, allow-unused).
#pragma once

#include <clang-c/Index.h>

#include <string>
#include <vector>

#include "analyzer/clang/findings.h"
#include "analyzer/clang/sources.h"
#include "analyzer/clang/tokens.h"

namespace mcpac::analyzer {

struct Allowance {
  std::string file;  // as findings name it
  Place place;
  std::string rule;
  std::string reason;
};

// The allowances of one file of the program; what is wrong with one becomes a finding.
[[nodiscard]] std::vector<Allowance> allowances_of(CXTranslationUnit unit, CXFile file,
                                                   const Sources& sources, Findings& findings);
// Marks the findings that are allowed. Called last, when all of them are there.
void apply(const std::vector<Allowance>& allowances, Findings& findings);

}  // namespace mcpac::analyzer
