// SPDX-License-Identifier: Apache-2.0

#include "core/shell_quote.h"

#include <algorithm>

#include "core/ascii.h"

namespace mcpac {
namespace {

bool is_plain(char c) {
  return is_letter(c) || is_digit(c) || std::string_view("_-.,/:@%+").contains(c);
}

}  // namespace

std::string shell_quoted(std::string_view word) {
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace mcpac
