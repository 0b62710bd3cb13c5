// SPDX-License-Identifier: Apache-2.0

// FallsUnder: the rules with a wildcard (`server.*`, `*.*`) that cover tools which are new at their
// servers, as soon as these are in the lock.
//
// The author of such a rule has not seen these tools: so it is said where they are listed and where
// they are accepted. The rules are those of mcpac.policy with all of its profiles, and of the
// policy files of the user's tokens; what is granted by an option is not known.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "codegen/lock.h"
#include "codegen/lock_diff.h"
#include "core/tool_definition.h"
#include "policy/layers.h"
#include "project/review.h"

namespace mcpac::cli {

struct FallsUnder {
  policy::LayerRules::Rule rule;
  std::vector<std::string> tools;  // "server.tool", sorted
};

// `fresh` are called "server.tool". A file that does not load says nothing: `policy check` does.
[[nodiscard]] std::vector<FallsUnder> falls_under(const Context& context,
                                                  const project::Project& project,
                                                  const codegen::Lock& lock,
                                                  const std::vector<ToolDefinition>& fresh);
// The tools of a difference that are not in the lock.
[[nodiscard]] std::vector<ToolDefinition> added_in(const codegen::ServerDiff& diff);

// Of the same files those that load today and no longer once the difference is in the lock, with
// what is said of them then: a rule names a tool that goes, or an argument that is another one.
[[nodiscard]] std::vector<Error> no_longer_load(const Context& context,
                                                const project::Project& project,
                                                const project::Review& review,
                                                const codegen::LockDiff& diff);

// "  mcpac.policy:3: allow notes.*: notes.drop_all", a line each under a heading; empty where there
// is none.
[[nodiscard]] std::string to_lines(const std::vector<FallsUnder>& rules);
[[nodiscard]] Json to_json(const std::vector<FallsUnder>& rules);

}  // namespace mcpac::cli
