// SPDX-License-Identifier: Apache-2.0

// Comparing JSON values exactly: as JSON Schema means "equal", with every digit of 64-bit integers.
//
// nlohmann compares an integer with a double through double, where 9007199254740993 equals
// 9007199254740992.0; a limit checked that way is not the limit that was written. 1 equals 1.0, and
// no number equals a boolean.
#pragma once

#include <compare>

#include "core/json.h"

namespace mcpac {

// Total over all values (types first), consistent with json_equal: fit for sorting.
[[nodiscard]] std::strong_ordering compare_json(const Json& a, const Json& b);
[[nodiscard]] bool json_equal(const Json& a, const Json& b);

// Both must be numbers; no NaN occurs in JSON.
[[nodiscard]] std::strong_ordering compare_numbers(const Json& a, const Json& b);
// 3, 3.0 and 1e300 are; 3.5 is not.
[[nodiscard]] bool is_integral(const Json& number);
// In decimal, not binary: 0.3 is a multiple of 0.1, though no double says so. `divisor` is above
// zero.
[[nodiscard]] bool is_multiple_of(const Json& number, const Json& divisor);

}  // namespace mcpac
