// SPDX-License-Identifier: Apache-2.0

// Word lists: names in one text, parted by single spaces, as tables of hundreds of them read best.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace mcpac::analyzer {

[[nodiscard]] inline bool has_word(std::string_view words, std::string_view word) {
  if (word.empty() || word.contains(' ')) return false;
  for (std::size_t at = words.find(word); at != std::string_view::npos;
       at = words.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool starts = at == 0 || words[at - 1] == ' ';
    if (starts && (end == words.size() || words[end] == ' ')) return true;
  }
  return false;
}

// The same for a table of words, one by one.
template <std::size_t N>
[[nodiscard]] bool among(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// A character of a name of C++, as far as those are ASCII.
[[nodiscard]] inline bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace mcpac::analyzer
