// Analysis: the worker process that reads untrusted C++, asked once, answered with a Report.
#pragma once

#include <filesystem>
#include <optional>

#include "analyzer/report.h"
#include "codegen/lock.h"
#include "core/error.h"
#include "execute/build/prepare.h"
#include "execute/build/snapshot.h"
#include "execute/child/waiting_tool.h"
#include "execute/project/project.h"

namespace mcpac::execute {

// What the worker is asked: all that it gets beside the files of the snapshot and of `prepared`.
[[nodiscard]] analyzer::Request analysis_request(const Snapshot& snapshot,
                                                 const codegen::Lock& lock,
                                                 const Prepared& prepared);

// The sandbox of the worker that reads the files in `source`.
[[nodiscard]] sandbox::Spec analyzer_spec(const Folders& folders,
                                          const std::filesystem::path& prepared,
                                          const std::filesystem::path& source,
                                          sandbox::Tier lowest_tier);

// `waiting`: one that was started before, or null. It is taken if it is what would be started now.
// The report names files as the user knows them. A worker that crashes, hangs, prints nonsense or
// names a permission that the lock does not have gives kAnalyzerFailed: never an empty report.
[[nodiscard]] Result<analyzer::Report> analyze(const Snapshot& snapshot, const codegen::Lock& lock,
                                               const Prepared& prepared, const Folders& folders,
                                               sandbox::Warden& warden, sandbox::Tier lowest_tier,
                                               StopSignal stop,
                                               std::optional<WaitingTool>* waiting = nullptr);

}  // namespace mcpac::execute
