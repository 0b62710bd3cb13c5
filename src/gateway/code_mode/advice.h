// SPDX-License-Identifier: Apache-2.0

// Advice: the fix of an error, in terms that a client of the gateway can follow.
//
// Refusals of a run advise the user who typed its command, by naming options of that. A model has
// no command line: what it lacks is in the policy of its client, which a person has to change,
// limits are members of its call, and what to look up is looked up by search_tools and
// describe_tools.
#pragma once

#include <string>

#include "core/json.h"

namespace mcpac::gateway::code_mode {

[[nodiscard]] std::string advice_for_client(std::string fix);
// In every member of it that is advice: "fix", "grant_fix".
void advise_client(Json& value);

}  // namespace mcpac::gateway::code_mode
