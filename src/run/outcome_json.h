// SPDX-License-Identifier: Apache-2.0

// OutcomeJson: the outcome of a run as one object, for `execute --json` and for clients in code
// mode.
#pragma once

#include "core/json.h"
#include "run/pipeline.h"

namespace mcpac::run {

[[nodiscard]] Json to_json(const Outcome& outcome);

}  // namespace mcpac::run
