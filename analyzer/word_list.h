// Word lists: names in one text, parted by single spaces, as tables of hundreds of them read best.
#pragma once

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

}  // namespace mcpac::analyzer
