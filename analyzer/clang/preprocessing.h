// SPDX-License-Identifier: Apache-2.0

// Preprocessing: checks of directives and tokens of the program's own files (rules foreign-header,
// macro-redefinition, line-directive, pragma, embed, path-probe, self-include, inline-assembly).
#pragma once

#include <clang-c/Index.h>

#include "analyzer/clang/findings.h"
#include "analyzer/clang/sources.h"
#include "analyzer/clang/tokens.h"
#include "analyzer/report.h"

namespace mcpac::analyzer {

// Every included file, direct or not, as the compiler itself reports it.
void check_inclusions(CXTranslationUnit unit, const Sources& sources, Findings& findings);
// The directives of one file of the program.
void check_directives(const std::vector<Token>& tokens, const Request& request,
                      const Sources& sources, Findings& findings);
// Assembly and pragma operators, as spelled.
void check_tokens(const std::vector<Token>& tokens, Findings& findings);
// The files of the program that were entered: the main file and its local headers.
[[nodiscard]] std::vector<CXFile> program_files(CXTranslationUnit unit, const Sources& sources,
                                                const Request& request);

}  // namespace mcpac::analyzer
