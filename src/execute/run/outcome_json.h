// OutcomeJson: what became of a run, as one object: `execute --json`, and what a client in code
// mode gets.
#pragma once

#include "core/json.h"
#include "execute/run/pipeline.h"

namespace mcpac::execute {

[[nodiscard]] Json to_json(const Outcome& outcome);

}  // namespace mcpac::execute
