// SPDX-License-Identifier: Apache-2.0

#include "core/glob.h"

#include <cstddef>

namespace mcpac {

bool glob_matches(std::string_view glob, std::string_view text, QuestionMark question) {
  const auto fits = [question](char of_glob, char c) {
    return of_glob == c || (of_glob == '?' && question == QuestionMark::kAnyByte);
  };
  // Greedy with one step back: only the last star can ever need to take more.
  std::size_t g = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      resume = t;
    } else if (g < glob.size() && fits(glob[g], text[t])) {
      ++g;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return glob.find_first_not_of('*', g) == std::string_view::npos;
}

}  // namespace mcpac
