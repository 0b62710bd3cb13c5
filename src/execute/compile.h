// Compile: snapshot in, one static program out, through two sandboxed runs (clang -cc1, ld.lld).
// Between the two, and after them, the result is held against what the analysis saw.
#pragma once

#include <filesystem>

#include "analyzer/report.h"
#include "core/error.h"
#include "core/file.h"
#include "execute/prepare.h"
#include "execute/snapshot.h"

namespace mcpac::execute {

// A built program; its file goes when this does.
struct Program {
  TemporaryFolder folder;
  std::filesystem::path file;
};

// `report` is that of the snapshot's source; what the compiled program shows is added to it.
[[nodiscard]] Result<Program> compile(const Snapshot& snapshot, analyzer::Report& report,
                                      const Prepared& prepared, const Folders& folders,
                                      sandbox::Warden& warden, sandbox::Tier lowest_tier,
                                      StopSignal stop);

// The text that ties the program's entry to the runtime; it stands after the program's own last
// line.
[[nodiscard]] std::string entry_text(analyzer::Entry entry);

}  // namespace mcpac::execute
