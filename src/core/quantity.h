// SPDX-License-Identifier: Apache-2.0

// Quantities as rules and configurations write them: `64KB`, `1.00 USD`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mcpac {

// "1 call", "0 calls", "2 calls": nouns that take an "s".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun);

// A whole number and nothing, B, KB, MB or GB: bytes, in powers of 1,000 (IEC 80000-13 keeps the
// powers of 1,024 for KiB). At most fifteen characters.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);
// "64KB": what parse_size() reads, in the largest unit that it is whole in.
[[nodiscard]] std::string size_text(std::uint64_t bytes);

// An amount in millionths of its currency, so that sums are exact. The currency is the three
// capital letters of ISO 4217; which codes exist is not checked.
struct Money {
  std::uint64_t millionths = 0;
  std::string currency;
  friend bool operator==(const Money&, const Money&) = default;
};

// Digits, at most six of them behind a point; up to a thousand million.
[[nodiscard]] std::optional<std::uint64_t> parse_amount(std::string_view text);
// "0.02 USD".
[[nodiscard]] std::optional<Money> parse_money(std::string_view text);
[[nodiscard]] bool is_currency(std::string_view text);
// "0.02 USD", with at least two digits behind the point.
[[nodiscard]] std::string to_text(const Money& money);

}  // namespace mcpac
