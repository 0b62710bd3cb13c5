// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/text_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/characters.h"

namespace mcpac::analyzer {
namespace {

// The code point at the start of the text and its length; length 0 where it is not UTF-8.
struct Decoded {
  char32_t point = 0;
  std::size_t length = 0;
};

Decoded decode(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return {};
  char32_t point = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    point = (point << 6U) | (byte(i) & 0x3FU);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  if (point < kSmallest[length] || point > 0x10FFFF || surrogate) return {};
  return {point, length};
}

bool is_bidirectional(char32_t point) {
  return point == 0x061C || point == 0x200E || point == 0x200F ||
         (point >= 0x202A && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
}

std::string line_place(std::string_view source, std::size_t offset, std::string_view name) {
  const auto before = source.substr(0, offset);
  const auto line = std::ranges::count(before, '\n') + 1;
  const auto start = before.rfind('\n');
  const auto column = offset - (start == std::string_view::npos ? 0 : start + 1) + 1;
  return fmt::format("{}:{}:{}", name, line, column);
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Decoded decoded = decode(text);
    if (decoded.length == 0) return false;
    text.remove_prefix(decoded.length);
  }
  return true;
}

Result<void> check_text(std::string_view source, std::string_view name) {
  if (source.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos) {
    return fail(ErrorId::kSourceEmpty, fmt::format("{} is empty", name),
                {.fix = "write a program with agent_main, or main and a global runtime"});
  }
  if (const auto nul = source.find('\0'); nul != std::string_view::npos) {
    return fail(ErrorId::kSourceNotText, fmt::format("{} has a NUL byte", name),
                {.where = line_place(source, nul, name), .why = "C++ sources are UTF-8 text"});
  }
  for (std::size_t at = 0; at < source.size();) {
    const Decoded decoded = decode(source.substr(at));
    if (decoded.length == 0) {
      return fail(ErrorId::kSourceNotText, fmt::format("{} is not UTF-8", name),
                  {.where = line_place(source, at, name), .why = "C++ sources are UTF-8 text"});
    }
    at += decoded.length;
  }
  return {};
}

std::vector<TextPlace> unseen_characters(std::string_view source) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  constexpr std::string_view kBlank = "\n\t\r\v\f";
  std::vector<TextPlace> found;
  TextPlace at{1, 1, false};
  char32_t before = 0;
  for (bool first = true; !source.empty(); first = false) {
    const Character character = first_character(source);
    const std::string_view behind = source.substr(character.bytes);
    // Sources are prose: what joins emoji and letters in their texts is written on purpose.
    const bool hidden = is_hidden_in_prose(before, character.code,
                                           behind.empty() ? 0 : first_character(behind).code);
    before = hidden ? 0 : character.code;
    // Alone it ends a line for clang and for no editor.
    const bool lone_return = source.front() == '\r' && !source.starts_with("\r\n");
    const bool allowed = (first && source.starts_with(kByteOrderMark)) ||
                         kBlank.find(source.front()) != std::string_view::npos;
    at.is_bidirectional = is_bidirectional(character.code);
    if (lone_return || (!allowed && (at.is_bidirectional || hidden))) found.push_back(at);
    if (source.front() == '\n') {
      at = {at.line + 1, 1, false};
    } else {
      at.column += static_cast<unsigned>(character.bytes);
    }
    source.remove_prefix(character.bytes);
  }
  return found;
}

}  // namespace mcpac::analyzer
