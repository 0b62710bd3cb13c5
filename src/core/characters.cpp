#include "core/characters.h"

#include <algorithm>
#include <array>

namespace mcpac {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

constexpr auto kInvisible = std::to_array<Range>({
    {0x00, 0x1F},
    {0x7F, 0x9F},
    {0xAD, 0xAD},
    {0x34F, 0x34F},
    {0x61C, 0x61C},
    {0x115F, 0x1160},
    {0x17B4, 0x17B5},
    {0x180B, 0x180F},
    {0x200B, 0x200B},
    {0x200E, 0x200F},
    {0x2028, 0x202E},
    {0x2060, 0x206F},
    {0x3164, 0x3164},
    {0xFEFF, 0xFEFF},
    {0xFFA0, 0xFFA0},
    {0xFFF0, 0xFFFB},
    {0x1D173, 0x1D17A},
    {0xE0000, 0xE0FFF},
});

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

bool is_invisible(char32_t code) {
  if (code >= 0x20 && code < 0x7F) return false;  // nearly all of what is asked
  return std::ranges::any_of(kInvisible,
                             [&](Range r) { return code >= r.first && code <= r.last; });
}

bool has_invisible(std::string_view text) {
  while (!text.empty()) {
    const auto [code, bytes] = first_character(text);
    // U+FFFD itself has three bytes.
    if (is_invisible(code) || (code == Character::kBroken && bytes == 1)) return true;
    text.remove_prefix(bytes);
  }
  return false;
}

}  // namespace mcpac
