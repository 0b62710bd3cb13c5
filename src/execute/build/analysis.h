// Analysis: the worker process that reads untrusted C++, asked once, answered with a Report.
#pragma once

#include "analyzer/report.h"
#include "codegen/lock.h"
#include "core/error.h"
#include "execute/build/prepare.h"
#include "execute/build/snapshot.h"
#include "execute/project/project.h"

namespace mcpac::execute {

// What the worker is asked: all that it gets beside the files of the snapshot and of `prepared`.
[[nodiscard]] analyzer::Request analysis_request(const Snapshot& snapshot,
                                                 const codegen::Lock& lock,
                                                 const Prepared& prepared);

// The report names files as the user knows them. A worker that crashes, hangs, prints nonsense or
// names a permission that the lock does not have gives kAnalyzerFailed: never an empty report.
[[nodiscard]] Result<analyzer::Report> analyze(const Snapshot& snapshot, const codegen::Lock& lock,
                                               const Prepared& prepared, const Folders& folders,
                                               sandbox::Warden& warden, sandbox::Tier lowest_tier,
                                               StopSignal stop);

}  // namespace mcpac::execute
