// Object classes: classes of objects at one place of a call, from the classes of their members.
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

}  // namespace mcpac::policy
