// Merge: the conjunction or the disjunction of two schemas, as one schema.
//
// Only what decides a C++ type has to come out right; conditions are the host's business, which
// checks the original. Work is bounded by the caller, which counts copied values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/json.h"

namespace mcpac::codegen {

// `target` requires what `more` requires, too.
void merge_required(OrderedJson& target, const OrderedJson& more);

// Properties of both; one that both describe is an allOf, merged in turn when it is looked at. Why
// it cannot be done, or "".
[[nodiscard]] std::string merge_properties(OrderedJson& target, const OrderedJson& more);

// `present` and `value` both hold for the keyword `name`: the tighter bound, the common part. Why
// they cannot, or "".
[[nodiscard]] std::string merge_keyword(std::string_view name, OrderedJson& present,
                                        const OrderedJson& value);

// Properties of either; one that both describe differently may be either. False: too many.
[[nodiscard]] bool add_alternatives(OrderedJson& properties, const OrderedJson& more);

// Number of values in a copy of `value`.
[[nodiscard]] std::size_t count_values(const OrderedJson& value);

}  // namespace mcpac::codegen
