// SPDX-License-Identifier: Apache-2.0

#include "core/json_escape.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace mcpac {
namespace {

constexpr std::uint64_t every_byte(std::uint8_t byte) {
  return 0x0101010101010101ULL * byte;
}

// Whether one of eight bytes is a control byte, a quote, a backslash or not ASCII. The subtraction
// borrows into the next byte only past one that is found already, so there is no false "no".
bool is_special(std::uint64_t eight) {
  const std::uint64_t high = every_byte(0x80);
  const std::uint64_t quote = eight ^ every_byte('"');
  const std::uint64_t backslash = eight ^ every_byte('\\');
  const std::uint64_t found =
      (eight - every_byte(0x20)) | (quote - every_byte(1)) | (backslash - every_byte(1)) | eight;
  return (found & high) != 0;
}

bool is_special(char c) {
  return needs_json_escape(c) || static_cast<std::uint8_t>(c) >= 0x80;
}

// Sixteen bytes that the compiler has in one register, where there is one. Signed: what is not
// ASCII is below the controls' end, too.
using Block = signed char __attribute__((vector_size(16)));

Block block_at(const char* bytes) {
  Block block;
  std::memcpy(&block, bytes, sizeof block);
  return block;
}

Block specials_in(Block block) {
  return (block < 0x20) | (block == '"') | (block == '\\');
}

bool is_any(Block found) {
  const auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(found);
  return (halves[0] | halves[1]) != 0;
}

// Whether one of 64 bytes is special.
bool is_special_in_64(const char* bytes) {
  return is_any(specials_in(block_at(bytes)) | specials_in(block_at(bytes + 16)) |
                specials_in(block_at(bytes + 32)) | specials_in(block_at(bytes + 48)));
}

}  // namespace

void append_json_escape(std::string& out, char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  const auto byte = static_cast<unsigned char>(c);
  out += "\\u00";
  out += kDigits[byte >> 4U];
  out += kDigits[byte & 15U];
}

std::size_t plain_json_length(std::string_view text) {
  std::size_t at = 0;
  while (at + 64 <= text.size() && !is_special_in_64(text.data() + at)) at += 64;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data() + at, sizeof eight);
    if (is_special(eight)) break;
  }
  while (at < text.size() && !is_special(text[at])) ++at;
  return at;
}

}  // namespace mcpac
