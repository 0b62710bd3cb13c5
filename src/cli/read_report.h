// SPDX-License-Identifier: Apache-2.0

// ReadReport: from what a user names to a report: a source, a compiled program, a saved report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/source_texts.h"
#include "cli/context.h"
#include "codegen/lock.h"

namespace mcpac::cli {

struct ReadReport {
  analyzer::Report report;
  analyzer::SourceTexts sources;  // none of a binary or a saved report
  std::optional<codegen::Lock>
      lock;  // what it was analysed with; a binary or a saved report has none
};

// `files` are the sources of one program or their folder, `-`, or one compiled program, whose note
// is all there is to read. `code` is the program itself; then there are no files.
[[nodiscard]] Result<ReadReport> read_report(Context& context,
                                             const std::vector<std::string>& files,
                                             const std::string& code, const std::string& tier);
// Also what `--json` printed and was saved; a text that begins with '{' is no C++ program.
[[nodiscard]] Result<ReadReport> read_or_load_report(Context& context, const std::string& file,
                                                     const std::string& tier);

}  // namespace mcpac::cli
