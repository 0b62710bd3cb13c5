// SPDX-License-Identifier: Apache-2.0

// Answer text: the outcome of a program, for a client that reads no structured content.
//
// A model reads it from its beginning: what the program returned, what it wrote, then what went
// wrong. What the structured content has beside that is for programs, and is not repeated.
#pragma once

#include <string>

#include "core/json.h"

namespace mcpac::gateway::code_mode {

// Of an answer of execute_agent or analyze_agent.
[[nodiscard]] std::string answer_text(const Json& answer);

}  // namespace mcpac::gateway::code_mode
