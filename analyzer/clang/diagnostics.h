// SPDX-License-Identifier: Apache-2.0

// Diagnostics: clang's errors as findings, those about capabilities in the words of mcpac.
#pragma once

#include <clang-c/Index.h>

#include "analyzer/clang/checks.h"
#include "analyzer/clang/findings.h"
#include "analyzer/clang/identity.h"
#include "analyzer/clang/sources.h"

namespace mcpac::analyzer {

struct Diagnosed {
  bool errors = false;
  bool in_program = false;  // one of them stands in the text of the program, not in a header
};

// Each error becomes a finding of rule compile-error; of the warnings, those of what dangles count.
// A redefinition of something in the generated headers is rule forged-type as well.
[[nodiscard]] Diagnosed check_diagnostics(CXTranslationUnit unit, const Identity& identity,
                                          const Sources& sources, Checks& checks,
                                          Findings& findings);

}  // namespace mcpac::analyzer
