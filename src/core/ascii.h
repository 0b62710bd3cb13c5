// SPDX-License-Identifier: Apache-2.0

// Ascii: classes of bytes in ASCII, independent of the locale. Bytes beyond it are none of these.
#pragma once

#include <string>
#include <string_view>

namespace mcpac {

[[nodiscard]] constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
[[nodiscard]] constexpr bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
[[nodiscard]] constexpr bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
[[nodiscard]] constexpr bool is_letter(char c) {
  return is_upper(c) || is_lower(c);
}
[[nodiscard]] constexpr bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}
[[nodiscard]] constexpr bool is_alphanumeric(char c) {
  return is_letter(c) || is_digit(c);
}
// Characters of C++ identifiers.
[[nodiscard]] constexpr bool is_word(char c) {
  return is_alphanumeric(c) || c == '_';
}
// Characters of bare names: of rules, of servers, of TOML.
[[nodiscard]] constexpr bool is_bare(char c) {
  return is_word(c) || c == '-';
}
[[nodiscard]] constexpr char to_lower(char c) {
  return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}
[[nodiscard]] inline std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = to_lower(c);
  return out;
}
// 0 to 15; -1: no hexadecimal digit.
[[nodiscard]] constexpr int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = to_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace mcpac
