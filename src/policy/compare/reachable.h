// SPDX-License-Identifier: Apache-2.0

// Reachable: whether a rule can match any call at all, judged by itself and the schema.
//
// check_arguments finds what one test says against the schema; here is what tests say against each
// other, and against lists, patterns and bounds of the schema: asked as a question of inclusion,
// whose answer comes with a call or is certain. What is not certain within the budget loads.
#pragma once

#include "policy/rules/compiled.h"

namespace mcpac::policy {

// kRuleIneffective for the first target of a rule that has been loaded, and can never match.
[[nodiscard]] Result<void> check_reachable(const ast::Rule& rule, const SourceText& source,
                                           const Environment& environment);

}  // namespace mcpac::policy
