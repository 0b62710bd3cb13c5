#include "core/json_escape.h"

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
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data() + at, sizeof eight);
    if (is_special(eight)) break;
  }
  while (at < text.size() && !is_special(text[at])) ++at;
  return at;
}

}  // namespace mcpac
