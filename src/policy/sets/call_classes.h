// SPDX-License-Identifier: Apache-2.0

// Call classes: all calls to one tool, as far as rules can tell them apart, with an example each.
//
// From the inside out: the scalars that can stand at a place, then lists of them, then objects; at
// every step only what differs in its marks is kept. Calls that the schema forbids may be among the
// examples where it says more than is understood here, but no call that it admits is left out:
// a call that is found must be tried, and its absence may be relied on when there is no gap.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "policy/decide/call_place.h"
#include "policy/sets/known_strings.h"
#include "policy/sets/scalar_classes.h"
#include "policy/sets/step_budget.h"
#include "policy/sets/value_set.h"

namespace mcpac::policy {

// Object classes: classes of objects at one place of a call, from the classes of their members.

// Shared state of a call's exploration.
struct Exploration {
  KnownStrings& strings;
  // Marks only grow: a part for which this is true need not be finished.
  std::function<bool(const Marks&)> is_hopeless;
  StepBudget& budget;
  std::string gap;  // why something may be left out; empty: nothing is
  Lengths lengths = Lengths::kTold;

  void note(const std::string& why) {
    if (gap.empty()) gap = why;
  }
};

using ValuesAt = std::function<std::vector<ValueClass>(const CallPlace&)>;

void add_object_classes(const CallPlace& place, const ValuesAt& values_at, Exploration& exploration,
                        ValueSet& values);

// `root` is the whole of the arguments. What is left out, and why, stands in exploration.gap.
[[nodiscard]] std::vector<ValueClass> call_classes(const CallPlace& root, Exploration& exploration);

}  // namespace mcpac::policy
