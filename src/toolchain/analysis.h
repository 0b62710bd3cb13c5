// SPDX-License-Identifier: Apache-2.0

// Analysis: the worker process that reads untrusted C++, asked once, answered with a Report.
#pragma once

#include <optional>

#include "analyzer/report.h"
#include "codegen/lock.h"
#include "core/error.h"
#include "toolchain/build_place.h"
#include "toolchain/snapshot.h"
#include "toolchain/waiting_analyzer.h"

namespace mcpac::toolchain {

// Request to the worker: all that it gets beside the files of the snapshot and of `prepared`.
[[nodiscard]] analyzer::Request analysis_request(const Snapshot& snapshot,
                                                 const codegen::Lock& lock,
                                                 const Prepared& prepared);

// `at_work`: an analyzer that waited and was led to the program, or nothing: then one is started.
// The report names files as the user knows them. A worker that crashes, hangs, prints nonsense or
// names a permission that the lock does not have gives kAnalyzerFailed: never an empty report.
[[nodiscard]] Result<analyzer::Report> analyze(
    const BuildPlace& place, const codegen::Lock& lock,
    std::optional<AnalyzerAtWork> at_work = std::nullopt);

}  // namespace mcpac::toolchain
