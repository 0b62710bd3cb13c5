// SPDX-License-Identifier: Apache-2.0

#include "policy/text/decimal.h"

#include <array>
#include <charconv>

#include "core/ascii.h"

namespace mcpac::policy {
namespace {

constexpr std::size_t kMaxText = 1000;  // real amounts need 20; beyond this a text is an attack
constexpr std::int64_t kMaxExponent =
    1'000'000'000'000;  // far beyond any number, far from overflow

std::size_t digits_at(std::string_view text, std::size_t from) {
  std::size_t count = 0;
  while (from + count < text.size() && is_digit(text[from + count])) ++count;
  return count;
}

std::strong_ordering reversed(std::strong_ordering order) {
  return 0 <=> order;
}

}  // namespace

std::optional<Decimal> Decimal::parse(std::string_view text) {
  if (text.size() > kMaxText) return std::nullopt;
  Decimal decimal;
  std::size_t at = 0;
  if (at < text.size() && text[at] == '-') {
    decimal.negative_ = true;
    ++at;
  }
  const std::size_t whole = digits_at(text, at);
  if (whole == 0 || (whole > 1 && text[at] == '0')) return std::nullopt;
  decimal.digits_ = text.substr(at, whole);
  at += whole;
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction = digits_at(text, at + 1);
    if (fraction == 0) return std::nullopt;
    decimal.digits_ += text.substr(at + 1, fraction);
    at += 1 + fraction;
  }
  std::int64_t exponent = 0;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    if (++at < text.size() && text[at] == '+') ++at;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + at, end, exponent);
    if (parsed.ptr != end || parsed.ec != std::errc{}) return std::nullopt;
    if (exponent > kMaxExponent || exponent < -kMaxExponent) return std::nullopt;
    at = text.size();
  }
  if (at != text.size()) return std::nullopt;
  decimal.magnitude_ = static_cast<std::int64_t>(whole) + exponent;
  const auto first = decimal.digits_.find_first_not_of('0');
  if (first == std::string::npos) return Decimal{};
  decimal.digits_.erase(0, first);
  decimal.magnitude_ -= static_cast<std::int64_t>(first);
  decimal.digits_.erase(decimal.digits_.find_last_not_of('0') + 1);
  return decimal;
}

Decimal Decimal::of(const Json& number) {
  std::array<char, 64> buffer;
  std::to_chars_result end{};
  if (number.is_number_unsigned()) {
    end = std::to_chars(buffer.begin(), buffer.end(), number.get<std::uint64_t>());
  } else if (number.is_number_integer()) {
    end = std::to_chars(buffer.begin(), buffer.end(), number.get<std::int64_t>());
  } else {
    end = std::to_chars(buffer.begin(), buffer.end(), number.get<double>());
  }
  return parse({buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data())})
      .value_or(Decimal{});
}

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) {
  const auto sign = [](const Decimal& d) { return d.digits_.empty() ? 0 : d.negative_ ? -1 : 1; };
  if (sign(a) != sign(b)) return sign(a) <=> sign(b);
  const auto size = a.magnitude_ != b.magnitude_ ? a.magnitude_ <=> b.magnitude_
                                                 : a.digits_.compare(b.digits_) <=> 0;
  return sign(a) < 0 ? reversed(size) : size;
}

}  // namespace mcpac::policy
