// ReadReport: from what a user names to a report: a source, a compiled program, a saved report.
#pragma once

#include <string>

#include "analyzer/report.h"
#include "cli/context.h"

namespace mcpac::cli {

struct ReadReport {
  analyzer::Report report;
  std::string source;  // the text of report.file, where it is a source
};

// `file` is a source, `-`, or a compiled program, of which its own note is all there is to read.
[[nodiscard]] Result<ReadReport> read_report(Context& context, const std::string& file,
                                             const std::string& tier);
// Also what `--json` printed and was saved; a text that begins with '{' is no C++ program.
[[nodiscard]] Result<ReadReport> read_or_load_report(Context& context, const std::string& file,
                                                     const std::string& tier);

}  // namespace mcpac::cli
