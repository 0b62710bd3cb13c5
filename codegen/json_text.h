// SPDX-License-Identifier: Apache-2.0

// JSON as text for people: members in their own order, nothing invisible in it.
//
// mcpac.lock is reviewed as a diff, so a bidirectional control in a description is written as an
// escape.
#pragma once

#include <cstddef>
#include <string>

#include "core/json.h"

namespace mcpac::codegen {

// One line, members in their order.
[[nodiscard]] std::string compact_json(const OrderedJson& value);

// The members of an object one below the other, `indent` spaces before each, all below them on one
// line.
[[nodiscard]] std::string one_member_a_line(const OrderedJson& object, std::size_t indent);

// Nothing from the wire is meant: values that were built elsewhere may hold what no JSON text can.
// Says why `value` cannot be written down (too deep, not UTF-8, not JSON), or "" if it can.
[[nodiscard]] std::string why_not_json(const OrderedJson& value, std::size_t max_depth);

}  // namespace mcpac::codegen
