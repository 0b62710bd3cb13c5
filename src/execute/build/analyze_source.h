// analyze_source: the pipeline up to the report, for `permissions analyze` and `validate`.
#pragma once

#include <functional>

#include "analyzer/report.h"
#include "core/error.h"
#include "execute/build/snapshot.h"
#include "execute/project/project.h"
#include "sandbox/sandbox.h"

namespace mcpac::execute {

[[nodiscard]] Result<analyzer::Report> analyze_source(
    const Project& project, const codegen::Lock& lock, const Folders& folders, const Source& source,
    sandbox::Tier lowest_tier, const std::function<void(const char*)>& on_build);

}  // namespace mcpac::execute
