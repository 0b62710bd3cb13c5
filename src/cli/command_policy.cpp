// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/policy_commands.h"

namespace mcpac::cli {

void add_policy(CLI::App& app, Context& context) {
  auto* policy = app.add_subcommand("policy", "rules: what they say, admit and decide");
  policy->require_subcommand(1);
  add_common_options(*policy, context);
  add_policy_check(*policy, context);
  add_policy_fmt(*policy, context);
  add_policy_print(*policy, context);
  add_policy_explain(*policy, context);
  add_policy_suggest(*policy, context);
  add_policy_diff(*policy, context);
}

}  // namespace mcpac::cli
