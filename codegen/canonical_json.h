// Canonical JSON (RFC 8785): one text for one value, so that its digest is the digest of the value.
//
// Members sorted by UTF-16 code units, shortest escapes, numbers as ECMAScript prints them. One
// deliberate difference: integers of 64 bits keep every digit, where RFC 8785 (which knows only
// doubles) would round; otherwise two schemas that differ in "maximum": 9007199254740993 would
// share a digest.
#pragma once

#include <string>

#include "core/json.h"

namespace mcpac::codegen {

[[nodiscard]] std::string canonical_json(const OrderedJson& value);

// Pretty text of the same value for people and diffs: members in their order, `indent` spaces
// before the members of the value itself, everything below them on one line.
[[nodiscard]] std::string one_member_a_line(const OrderedJson& object, std::size_t indent);

// Compact text with members in their order; invisible characters as \uXXXX.
[[nodiscard]] std::string compact_json(const OrderedJson& value);

// Nothing that a definition from the wire can be stops a reader of the lock; what was built
// elsewhere may: says why `value` cannot be written down (too deep, invalid UTF-8, no JSON type),
// or "" if it can.
[[nodiscard]] std::string why_not_json(const OrderedJson& value, std::size_t max_depth);

}  // namespace mcpac::codegen
