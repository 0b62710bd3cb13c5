// SPDX-License-Identifier: Apache-2.0

// The commands below `mcpac policy`, one file each, as in cli/commands.h.
#pragma once

#include "cli/context.h"

namespace mcpac::cli {

void add_policy_check(CLI::App& policy, Context& context);    // policy_check.cpp
void add_policy_fmt(CLI::App& policy, Context& context);      // policy_fmt.cpp
void add_policy_print(CLI::App& policy, Context& context);    // policy_print.cpp
void add_policy_suggest(CLI::App& policy, Context& context);  // policy_suggest.cpp
void add_policy_diff(CLI::App& policy, Context& context);     // policy_diff.cpp
void add_policy_explain(CLI::App& policy, Context& context);  // policy_explain.cpp

}  // namespace mcpac::cli
