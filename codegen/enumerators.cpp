// SPDX-License-Identifier: Apache-2.0

#include "codegen/enumerators.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "codegen/names.h"
#include "core/ascii.h"

namespace mcpac::codegen {
namespace {

bool is_word_byte(char c) {
  return is_digit(c) || is_letter(c) || static_cast<unsigned char>(c) >= 0x80;
}

std::string_view spelled(char c) {
  static constexpr auto kSigns = std::to_array<std::pair<char, std::string_view>>(
      {{'+', "plus"},       {'-', "minus"},     {'*', "star"},        {'/', "slash"},
       {'<', "less"},       {'>', "greater"},   {'=', "equals"},      {'!', "not"},
       {'&', "and"},        {'|', "or"},        {'.', "dot"},         {',', "comma"},
       {':', "colon"},      {';', "semicolon"}, {' ', "space"},       {'\t', "tab"},
       {'\n', "newline"},   {'#', "hash"},      {'%', "percent"},     {'@', "at"},
       {'^', "caret"},      {'~', "tilde"},     {'?', "question"},    {'$', "dollar"},
       {'\\', "backslash"}, {'"', "quote"},     {'\'', "apostrophe"}, {'_', "underscore"},
       {'`', "backtick"}});
  const auto found = std::ranges::find(kSigns, c, &std::pair<char, std::string_view>::first);
  return found == kSigns.end() ? "sign" : found->second;
}

// The value as something that looks like a word.
std::string wording(const std::string& value) {
  constexpr std::size_t kMaxSigns = 8;
  if (value.empty()) return "empty";
  if (std::ranges::none_of(value, is_word_byte)) {
    std::string words;
    for (std::size_t i = 0; i < value.size() && i < kMaxSigns; ++i)
      words += (words.empty() ? "" : "_") + std::string(spelled(value[i]));
    return words;
  }
  if (value.size() > 1 && (value[0] == '+' || value[0] == '-') && is_word_byte(value[1]))
    return (value[0] == '+' ? "plus_" : "minus_") + value.substr(1);
  return value;
}

}  // namespace

std::vector<Enumerator> enumerators_of(const std::vector<OrderedJson>& values) {
  std::vector<Enumerator> enumerators;
  std::vector<std::pair<std::string, std::size_t>> changed;  // original text, index
  NameScope taken;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string text =
        values[i].is_string() ? values[i].get<std::string>() : values[i].dump();
    std::string name = unreserved(to_identifier(wording(text)));
    // A string keeps its own name; 1 beside "1" gives way.
    if (name == text && values[i].is_string()) {
      taken.take(name);
    } else {
      changed.emplace_back(text, i);
    }
    enumerators.push_back({values[i], std::move(name)});
  }
  std::ranges::sort(changed);
  for (const auto& [text, i] : changed)
    enumerators[i].cpp_name = claim_unreserved(taken, enumerators[i].cpp_name);
  return enumerators;
}

}  // namespace mcpac::codegen
