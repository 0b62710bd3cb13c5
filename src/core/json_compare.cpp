// SPDX-License-Identifier: Apache-2.0

#include "core/json_compare.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace mcpac {
namespace {

__extension__ using Uint128 = unsigned __int128;

// An integer that JSON text can hold in 64 bits, either sign.
struct Integer {
  bool negative;
  std::uint64_t magnitude;
};

Integer integer_of(const Json& number) {
  if (number.is_number_unsigned()) return {false, number.get<std::uint64_t>()};
  const auto value = number.get<std::int64_t>();
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? Integer{true, std::uint64_t{0} - bits} : Integer{false, bits};
}

std::strong_ordering compare(Integer a, Integer b) {
  if (a.negative != b.negative)
    return a.negative ? std::strong_ordering::less : std::strong_ordering::greater;
  return a.negative ? b.magnitude <=> a.magnitude : a.magnitude <=> b.magnitude;
}

std::strong_ordering compare(double a, double b) {
  if (a < b) return std::strong_ordering::less;
  return a > b ? std::strong_ordering::greater : std::strong_ordering::equal;
}

std::strong_ordering compare(double a, Integer b) {
  constexpr double kTwoTo64 = 18446744073709551616.0;
  if (a >= kTwoTo64) return std::strong_ordering::greater;
  if (a <= -kTwoTo64) return std::strong_ordering::less;
  const double whole = std::trunc(a);
  const bool negative = whole < 0;
  const auto order =
      compare(Integer{negative, static_cast<std::uint64_t>(negative ? -whole : whole)}, b);
  return order != 0 ? order : compare(a, whole);
}

// digits × 10^exponent, exactly what the shortest text of the number says.
struct Decimal {
  std::uint64_t digits = 0;
  int exponent = 0;
};

Decimal decimal_of(const Json& number) {
  if (!number.is_number_float()) return {integer_of(number).magnitude, 0};
  std::array<char, 64> buffer;
  const auto end = std::to_chars(buffer.begin(), buffer.end(), std::fabs(number.get<double>()),
                                 std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data()));
  const auto e = text.find('e');
  Decimal decimal;
  // At most 17 digits: no overflow.
  for (const char c : text.substr(0, e)) {
    if (c == '.') continue;
    decimal.digits = decimal.digits * 10 + static_cast<unsigned>(c - '0');
  }
  auto exponent = text.substr(e + 1);
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), decimal.exponent);
  const auto point = text.find('.');
  if (point < e) decimal.exponent -= static_cast<int>(e - point - 1);
  return decimal;
}

std::uint64_t times_power_of_ten_modulo(std::uint64_t digits, int power, std::uint64_t modulus) {
  Uint128 rest = digits % modulus;
  for (int i = 0; i < power && rest != 0; ++i) rest = rest * 10 % modulus;
  return static_cast<std::uint64_t>(rest);
}

int rank(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null: return 0;
    case Json::value_t::boolean: return 1;
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float: return 2;
    case Json::value_t::string: return 3;
    case Json::value_t::array: return 4;
    case Json::value_t::object: return 5;
    case Json::value_t::binary:
    case Json::value_t::discarded: break;
  }
  return 6;
}

std::strong_ordering compare_arrays(const Json& a, const Json& b) {
  if (const auto order = a.size() <=> b.size(); order != 0) return order;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (const auto order = compare_json(a[i], b[i]); order != 0) return order;
  }
  return std::strong_ordering::equal;
}

std::strong_ordering compare_objects(const Json& a, const Json& b) {
  if (const auto order = a.size() <=> b.size(); order != 0) return order;
  for (auto i = a.begin(), j = b.begin(); i != a.end(); ++i, ++j) {
    if (const auto order = i.key().compare(j.key()); order != 0) return order <=> 0;
    if (const auto order = compare_json(*i, *j); order != 0) return order;
  }
  return std::strong_ordering::equal;
}

}  // namespace

std::strong_ordering compare_numbers(const Json& a, const Json& b) {
  const bool float_a = a.is_number_float();
  const bool float_b = b.is_number_float();
  if (float_a && float_b) return compare(a.get<double>(), b.get<double>());
  if (float_a) return compare(a.get<double>(), integer_of(b));
  if (float_b) return 0 <=> compare(b.get<double>(), integer_of(a));
  return compare(integer_of(a), integer_of(b));
}

bool is_integral(const Json& number) {
  if (!number.is_number_float()) return number.is_number();
  const double value = number.get<double>();
  return std::trunc(value) == value;
}

bool is_multiple_of(const Json& number, const Json& divisor) {
  Decimal value = decimal_of(number);
  const Decimal unit = decimal_of(divisor);
  if (unit.digits == 0) return false;
  int power = value.exponent - unit.exponent;
  // value.digits × 10^power must be a multiple of unit.digits. With a negative power, value.digits
  // must be a multiple of unit.digits × 10^-power, hence of 10^-power, and the quotient of
  // unit.digits.
  for (; power < 0 && value.digits != 0; ++power) {
    if (value.digits % 10 != 0) return false;
    value.digits /= 10;
  }
  return times_power_of_ten_modulo(value.digits, power, unit.digits) == 0;
}

std::strong_ordering compare_json(const Json& a, const Json& b) {
  if (const auto order = rank(a) <=> rank(b); order != 0) return order;
  switch (rank(a)) {
    case 1: return a.get<bool>() <=> b.get<bool>();
    case 2: return compare_numbers(a, b);
    case 3: return a.get_ref<const std::string&>().compare(b.get_ref<const std::string&>()) <=> 0;
    case 4: return compare_arrays(a, b);
    case 5: return compare_objects(a, b);
    default: return std::strong_ordering::equal;
  }
}

bool json_equal(const Json& a, const Json& b) {
  return compare_json(a, b) == 0;
}

}  // namespace mcpac
