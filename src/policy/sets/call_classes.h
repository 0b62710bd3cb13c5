// Call classes: all calls to one tool, as far as rules can tell them apart, with an example each.
//
// From the inside out: the scalars that can stand at a place, then lists of them, then objects; at
// every step only what differs in its marks is kept. Calls that the schema forbids may be among the
// examples where it says more than is understood here, but no call that it admits is left out:
// a call that is found must be tried, and its absence may be relied on when there is no gap.
#pragma once

#include <vector>

#include "policy/sets/object_classes.h"

namespace mcpac::policy {

// `root` is the whole of the arguments. What is left out, and why, stands in exploration.gap.
[[nodiscard]] std::vector<ValueClass> call_classes(const CallPlace& root, Exploration& exploration);

}  // namespace mcpac::policy
