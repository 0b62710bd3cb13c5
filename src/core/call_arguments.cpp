// SPDX-License-Identifier: Apache-2.0

#include "core/call_arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <system_error>

namespace mcpac {
namespace {

constexpr std::string_view kLargest = "1.7976931348623157e308";

// One past the string that begins at `at`.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

// RFC 8259, section 6. What is no number must stay none: it would become one by being replaced.
bool is_number(std::string_view text) {
  const auto digits = [&text] {
    const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(end);
    return end > 0;
  };
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9') return false;
  if (!digits()) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (!digits()) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (!digits()) return false;
  }
  return text.empty();
}

// strtod's answer for a number out of range tells large from small; from_chars does not.
bool is_beyond_double(const std::string& number) {
  double value = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
  return read.ec == std::errc::result_out_of_range &&
         std::isinf(std::strtod(number.c_str(), nullptr));
}

}  // namespace

std::string with_finite_numbers(std::string_view text) {
  std::string finite;
  finite.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const bool is_string = text[at] == '"';
    const bool may_be_number = text[at] == '-' || (text[at] >= '0' && text[at] <= '9');
    std::size_t end = at + 1;
    if (is_string) end = end_of_string(text, at);
    if (may_be_number) end = std::min(text.find_first_not_of("0123456789+-.eE", at), text.size());
    const auto piece = text.substr(at, end - at);
    if (may_be_number && is_number(piece) && is_beyond_double(std::string(piece))) {
      finite += piece.starts_with('-') ? "-" : "";
      finite += kLargest;
    } else {
      finite += piece;
    }
    at = end;
  }
  return finite;
}

Result<Json> parse_call(std::string_view text, std::string_view where) {
  auto parsed = parse_json(text, where);
  if (parsed || parsed.error().id != ErrorId::kJsonSyntax) return parsed;
  JsonLimits limits;
  limits.max_bytes *= 5;  // "9e999" is longer afterwards
  auto again = parse_json(with_finite_numbers(text), where, limits);
  return again ? std::move(again) : std::move(parsed);
}

}  // namespace mcpac
