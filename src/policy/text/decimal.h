// SPDX-License-Identifier: Apache-2.0

// Decimal: a JSON number as the exact decimal that its text says.
//
// 5e2, 500 and 500.0 are one value, -0 is 0, and 2^53 + 1 is not 2^53: a limit compared through
// double would not be the limit as written. Digits are bounded, so comparing is cheap whatever the
// exponent.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/json.h"

namespace mcpac::policy {

class Decimal {
 public:
  Decimal() = default;
  // The text must be a JSON number of at most 1,000 characters; nothing otherwise.
  static std::optional<Decimal> parse(std::string_view text);
  // The value that dumping `number` writes: 0.1 is one tenth, whatever the double behind it is.
  static Decimal of(const Json& number);

  friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b);
  friend bool operator==(const Decimal& a, const Decimal& b) { return (a <=> b) == 0; }

 private:
  // 0.digits × 10^magnitude; no zero at either end of digits; zero has no digits.
  bool negative_ = false;
  std::string digits_;
  std::int64_t magnitude_ = 0;
};

}  // namespace mcpac::policy
