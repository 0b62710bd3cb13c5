// SPDX-License-Identifier: Apache-2.0

// trimmed(): a text without what is blank at its ends; what that is differs from text to text.
#pragma once

#include <string_view>

namespace mcpac {

template <class IsBlank>
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text, IsBlank is_blank) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Blanks and tabs.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) {
  return trimmed(text, [](char c) { return c == ' ' || c == '\t'; });
}

}  // namespace mcpac
