// SPDX-License-Identifier: Apache-2.0

// A program's declaration for its gate: from a source's report, or from a binary's note, which is
// read into one (analyzer/report.h).
#pragma once

#include "analyzer/report.h"
#include "gate/gate.h"

namespace mcpac::run {

[[nodiscard]] gate::Declared declared_by(const analyzer::Report& report);

}  // namespace mcpac::run
