// SPDX-License-Identifier: Apache-2.0

// A call as the analyzer found it in a source, in the words of the policy.
#pragma once

#include "analyzer/report.h"
#include "policy/foresight.h"

namespace mcpac::run {

[[nodiscard]] policy::CallInSource call_in_source(const analyzer::Use& use);

}  // namespace mcpac::run
