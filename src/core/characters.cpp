// SPDX-License-Identifier: Apache-2.0

#include "core/characters.h"

#include <algorithm>
#include <array>

namespace mcpac {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// DerivedCoreProperties.txt of Unicode 16.0, Default_Ignorable_Code_Point; unassigned ones are in
// it.
constexpr auto kIgnorable = std::to_array<Range>({
    {0xAD, 0xAD},
    {0x34F, 0x34F},
    {0x61C, 0x61C},
    {0x115F, 0x1160},
    {0x17B4, 0x17B5},
    {0x180B, 0x180F},
    {0x200B, 0x200F},
    {0x202A, 0x202E},
    {0x2060, 0x206F},
    {0x3164, 0x3164},
    {0xFE00, 0xFE0F},
    {0xFEFF, 0xFEFF},
    {0xFFA0, 0xFFA0},
    {0xFFF0, 0xFFF8},
    {0x1BCA0, 0x1BCA3},
    {0x1D173, 0x1D17A},
    {0xE0000, 0xE0FFF},
});

// Controls, line ends, and marks of annotations and notes that have no glyph of their own.
constexpr auto kUnseenBesides = std::to_array<Range>({
    {0x00, 0x1F},
    {0x7F, 0x9F},
    {0x2028, 0x2029},
    {0xFFF9, 0xFFFB},
    {0x13430, 0x1343F},
    {0x16FE4, 0x16FE4},
    {0x1D159, 0x1D159},
});

// White_Space of PropList.txt but U+0020 and controls, and the empty Braille pattern.
constexpr auto kBlanks = std::to_array<Range>({
    {0xA0, 0xA0},
    {0x1680, 0x1680},
    {0x2000, 0x200A},
    {0x202F, 0x202F},
    {0x205F, 0x205F},
    {0x2800, 0x2800},
    {0x3000, 0x3000},
});

template <class Ranges>
bool is_in(const Ranges& ranges, char32_t code) {
  return std::ranges::any_of(ranges, [&](Range r) { return code >= r.first && code <= r.last; });
}

constexpr std::string_view kHexDigits = "0123456789abcdef";

bool is_joiner(char32_t code) {
  return code == 0x200C || code == 0x200D;
}
bool chooses_presentation(char32_t code) {
  return code == 0xFE0E || code == 0xFE0F;
}
// What a joiner or a selector of presentation acts on.
bool is_letter_beyond_ascii(char32_t code) {
  return code > 0xA0 && code != Character::kBroken && !is_in(kIgnorable, code) &&
         !is_in(kUnseenBesides, code) && !is_in(kBlanks, code);
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

}  // namespace

void append_utf8(std::string& out, char32_t code) {
  const auto byte = [&out](char32_t value) { out += static_cast<char>(value); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xC0U | (code >> 6U));
  } else if (code < 0x10000) {
    byte(0xE0U | (code >> 12U));
    byte(0x80U | ((code >> 6U) & 0x3FU));
  } else {
    byte(0xF0U | (code >> 18U));
    byte(0x80U | ((code >> 12U) & 0x3FU));
    byte(0x80U | ((code >> 6U) & 0x3FU));
  }
  byte(0x80U | (code & 0x3FU));
}

Character first_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
  char32_t code = first & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!is_continuation(text[i])) return {};
    code = (code << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  constexpr std::array<char32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[bytes] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {code, bytes};
}

bool is_ignorable(char32_t code) {
  return code >= 0xAD && is_in(kIgnorable, code);
}

bool is_invisible(char32_t code) {
  if (code >= 0x20 && code < 0x7F) return false;  // nearly all of what is asked
  return is_in(kIgnorable, code) || is_in(kUnseenBesides, code) || is_in(kBlanks, code);
}

bool is_hidden_in_prose(char32_t before, char32_t code, char32_t after) {
  if (code >= 0x20 && code < 0x7F) return false;
  if (chooses_presentation(code)) {
    const bool keycap = (before >= '0' && before <= '9') || before == '#' || before == '*';
    return !keycap && !is_letter_beyond_ascii(before);
  }
  if (is_joiner(code)) {
    const bool follows = is_letter_beyond_ascii(before) || chooses_presentation(before);
    return !follows || !is_letter_beyond_ascii(after);
  }
  if (is_in(kBlanks, code)) return code == 0x2800;
  return is_invisible(code);
}

void append_escaped(std::string& out, char32_t code) {
  const auto unit = [&out](char32_t value) {
    out += "\\u";
    for (unsigned shift = 16; shift > 0; shift -= 4) out += kHexDigits[value >> (shift - 4) & 0xFU];
  };
  if (code <= 0xFFFF) return unit(code);
  unit(0xD800 + ((code - 0x10000) >> 10U));
  unit(0xDC00 + ((code - 0x10000) & 0x3FFU));
}

void append_escaped_byte(std::string& out, char byte) {
  const auto value = static_cast<unsigned char>(byte);
  out += "\\x";
  out += kHexDigits[value >> 4U];
  out += kHexDigits[value & 0xFU];
}

bool is_wide_blank(char32_t code) {
  return code >= 0xA0 && is_in(kBlanks, code);
}

bool has_invisible(std::string_view text) {
  bool found = false;
  for_each_in_prose(text, [&found](Character now, std::string_view, bool hidden) {
    // U+FFFD itself has three bytes.
    found = found || hidden || (now.code == Character::kBroken && now.bytes == 1);
  });
  return found;
}

}  // namespace mcpac
