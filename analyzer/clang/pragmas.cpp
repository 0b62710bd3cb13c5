#include "analyzer/clang/pragmas.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace mcpac::analyzer {
namespace {

constexpr std::array<std::string_view, 8> kHarmlessPragmas{
    "once", "diagnostic", "unroll", "STDC", "region", "endregion", "message", "mark"};
// system_header silences, push_macro swaps macros, the rest changes what is linked or marked.
constexpr std::array<std::string_view, 14> kRefusedPragmas{
    "system_header",   "push_macro", "pop_macro", "redefine_extname", "weak",
    "comment",         "section",    "attribute", "init_seg",         "include_alias",
    "include_instead", "poison",     "module",    "options"};

bool is_vendor(std::string_view word) {
  return word == "GCC" || word == "clang";
}

}  // namespace

void check_pragma(std::span<const Token> words, const Place& place, Findings& findings) {
  while (!words.empty() && is_vendor(words.front().text)) words = words.subspan(1);
  const std::string_view word = words.empty() ? std::string_view() : words.front().text;
  const auto is_word = [word](std::string_view known) { return word == known; };
  if (std::ranges::any_of(kRefusedPragmas, is_word)) {
    findings.add("pragma", place, fmt::format("#pragma {} is not for agents", word),
                 "remove the pragma");
  } else if (!word.empty() && std::ranges::none_of(kHarmlessPragmas, is_word)) {
    findings.add("unknown-pragma", place, fmt::format("#pragma {} is not known to mcpac", word),
                 "remove the pragma");
  }
}

}  // namespace mcpac::analyzer
