// SPDX-License-Identifier: Apache-2.0

// The error as a JSON object: {"id", "what"} and, where they are not empty, "where", "why", "fix"
// and "outcome" (outcome_of).
#pragma once

#include "core/error.h"
#include "core/json.h"

namespace mcpac {

[[nodiscard]] Json error_json(const Error& error);

}  // namespace mcpac
