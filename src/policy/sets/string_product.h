// SPDX-License-Identifier: Apache-2.0

// String product: every way in which a string can stand to several automata at once, with a
// shortest example each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/sets/automaton.h"
#include "policy/sets/step_budget.h"

namespace mcpac::policy {

struct StringKind {
  std::vector<bool> accepted;  // by automaton
  std::string example;         // of all such strings one that is shortest
  bool endless = false;        // there are such strings of any length, or it is not known
};

// All kinds that exist, or nothing when the budget is spent.
[[nodiscard]] std::optional<std::vector<StringKind>> string_kinds(const std::vector<Nfa>& automata,
                                                                  StepBudget& budget);

}  // namespace mcpac::policy
