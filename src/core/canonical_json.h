// SPDX-License-Identifier: Apache-2.0

// Canonical JSON: one text for one value (RFC 8785, JCS), so that a digest of it names the value.
//
// Members are sorted by their names as UTF-16, numbers are written as ECMAScript writes them,
// strings with the fewest escapes. One deviation: an integer that fits 64 bits keeps all its
// digits, where JCS goes through a double and 9007199254740993 would become 9007199254740992; two
// tool definitions that differ must not have one digest. Within ±2^53 the texts are exactly those
// of the RFC.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/json.h"

namespace mcpac {

[[nodiscard]] std::string canonical_json(const Json& value);
[[nodiscard]] std::string canonical_json(const OrderedJson& value);
// Of an object with only those of its members that are named; of anything else "{}".
[[nodiscard]] std::string canonical_json(const OrderedJson& object,
                                         std::span<const std::string_view> members);

// A finite number as ECMAScript's Number::toString writes it: "1e+21", "0.000001", "-5e-324".
[[nodiscard]] std::string ecmascript_number(double value);

}  // namespace mcpac
