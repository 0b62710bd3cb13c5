// SPDX-License-Identifier: Apache-2.0

// Scalar classes: classes of null, booleans, numbers and strings at one place of a call.
#pragma once

#include <cstdint>
#include <string>

#include "policy/decide/call_place.h"
#include "policy/sets/known_strings.h"
#include "policy/sets/step_budget.h"
#include "policy/sets/value_set.h"

namespace mcpac::policy {

// Whether strings are told apart by the lengths that a schema admits. Left out, some that it admits
// may be missing: for callers that want examples, which then are the same for most schemas.
enum class Lengths : std::uint8_t { kTold, kLeftOut };

// Adds them to `values`. Answers why some may be missing; empty: none is.
[[nodiscard]] std::string add_scalar_classes(const CallPlace& place, KnownStrings& strings,
                                             StepBudget& budget, ValueSet& values,
                                             Lengths lengths = Lengths::kTold);

// The strings, by what tests on any string say of them.
[[nodiscard]] std::string add_any_strings(const CallPlace& place, KnownStrings& strings,
                                          StepBudget& budget, ValueSet& values);

}  // namespace mcpac::policy
