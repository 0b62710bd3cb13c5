// SPDX-License-Identifier: Apache-2.0

// analyze_source: the pipeline up to the report, for `permissions analyze` and `validate`.
#pragma once

#include <functional>
#include <optional>

#include "analyzer/report.h"
#include "core/error.h"
#include "project/project.h"
#include "sandbox/sandbox.h"
#include "toolchain/child/stage.h"
#include "toolchain/snapshot.h"

namespace mcpac::run {

// `stop`: ends it instead of signals.
[[nodiscard]] Result<analyzer::Report> analyze_source(
    const project::Project& project, const codegen::Lock& lock, const project::Folders& folders,
    const toolchain::Source& source, sandbox::Tier lowest_tier,
    const std::function<void(const char*)>& on_build,
    std::optional<StopSignal> stop = std::nullopt);

}  // namespace mcpac::run
