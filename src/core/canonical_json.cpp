// SPDX-License-Identifier: Apache-2.0

#include "core/canonical_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/json_escape.h"

namespace mcpac {
namespace {

// Orders UTF-8 texts as their UTF-16 forms are ordered. Bytes already have the order of code
// points; UTF-16 differs only in that surrogates (lead bytes F0 and up) come before U+E000 to
// U+FFFF (EE, EF).
bool less_as_utf16(std::string_view a, std::string_view b) {
  const auto [i, j] = std::ranges::mismatch(a, b);
  if (i == a.end() || j == b.end()) return j != b.end();
  const auto rank = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0xee || byte == 0xef ? 0x100 + byte : int{byte};
  };
  return rank(*i) < rank(*j);
}

void write_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (needs_json_escape(c)) {
      append_json_escape(out, c);
    } else {
      out += c;
    }
  }
  out += '"';
}

template <class Value>
void write(std::string& out, const Value& value);

template <class Value>
using Members = std::vector<std::pair<std::string_view, const Value*>>;

template <class Value>
Members<Value> members_of(const Value& object) {
  Members<Value> members;
  members.reserve(object.size());
  for (auto at = object.begin(); at != object.end(); ++at) members.emplace_back(at.key(), &*at);
  return members;
}

template <class Value>
void write_object(std::string& out, Members<Value> members) {
  std::ranges::sort(members, less_as_utf16, [](const auto& member) { return member.first; });
  out += '{';
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i > 0) out += ',';
    write_string(out, members[i].first);
    out += ':';
    write(out, *members[i].second);
  }
  out += '}';
}

template <class Value>
void write(std::string& out, const Value& value) {
  switch (value.type()) {
    case Value::value_t::object: return write_object(out, members_of(value));
    case Value::value_t::array:
      out += '[';
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (i > 0) out += ',';
        write(out, value[i]);
      }
      out += ']';
      return;
    case Value::value_t::string:
      return write_string(out, value.template get_ref<const std::string&>());
    case Value::value_t::boolean: out += value.template get<bool>() ? "true" : "false"; return;
    case Value::value_t::number_integer:
      out += std::to_string(value.template get<std::int64_t>());
      return;
    case Value::value_t::number_unsigned:
      out += std::to_string(value.template get<std::uint64_t>());
      return;
    case Value::value_t::number_float:
      out += ecmascript_number(value.template get<double>());
      return;
    case Value::value_t::null:
    case Value::value_t::binary:
    case Value::value_t::discarded: out += "null"; return;
  }
}

}  // namespace

// ECMA-262, Number::toString: with digits d1…dk and value 0.d1…dk × 10^n, where the point goes
// depends on n alone.
std::string ecmascript_number(double value) {
  if (!std::isfinite(value)) return "null";  // does not occur in JSON
  if (value == 0) return "0";                // also -0
  std::array<char, 64> buffer;
  const auto end =
      std::to_chars(buffer.begin(), buffer.end(), std::fabs(value), std::chars_format::scientific);
  const std::string_view shortest(buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data()));
  const auto e = shortest.find('e');
  std::string digits;
  std::ranges::copy_if(shortest.substr(0, e), std::back_inserter(digits),
                       [](char c) { return c != '.'; });
  int exponent = 0;
  const auto power = shortest.substr(shortest[e + 1] == '+' ? e + 2 : e + 1);
  std::from_chars(power.data(), power.data() + power.size(), exponent);
  const int k = static_cast<int>(digits.size());
  const int n = exponent + 1;
  const auto zeros = [](int count) { return std::string(static_cast<std::size_t>(count), '0'); };
  std::string text = value < 0 ? "-" : "";
  if (k <= n && n <= 21) return text + digits + zeros(n - k);
  if (0 < n && n <= 21) return text + digits.insert(static_cast<std::size_t>(n), ".");
  if (-6 < n && n <= 0) return text + "0." + zeros(-n) + digits;
  if (k > 1) digits.insert(1, ".");
  return text + digits + (exponent < 0 ? "e" : "e+") + std::to_string(exponent);
}

std::string canonical_json(const Json& value) {
  std::string out;
  write(out, value);
  return out;
}

std::string canonical_json(const OrderedJson& value) {
  std::string out;
  write(out, value);
  return out;
}

std::string canonical_json(const OrderedJson& object, std::span<const std::string_view> members) {
  Members<OrderedJson> chosen;
  if (object.is_object()) {
    chosen = members_of(object);
    std::erase_if(chosen, [members](const auto& member) {
      return std::ranges::find(members, member.first) == members.end();
    });
  }
  std::string out;
  write_object(out, std::move(chosen));
  return out;
}

}  // namespace mcpac
