#include "mcp/printable.h"

#include <algorithm>

namespace mcpac::mcp {
namespace {

// Length of an escape sequence "ESC [ parameters final" at the start of `text`, 0 when there is
// none.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2 || text[0] != '\x1b' || text[1] != '[') return 0;
  std::size_t i = 2;
  while (i < text.size() && text[i] >= 0x20 && text[i] < 0x40) ++i;
  return i < text.size() && text[i] >= 0x40 && text[i] < 0x7f ? i + 1 : 0;
}

// The 8-bit control characters U+0080…U+009F, as UTF-8.
bool is_c1(std::string_view text) {
  return text.size() >= 2 && text[0] == '\xc2' && static_cast<unsigned char>(text[1]) >= 0x80 &&
         static_cast<unsigned char>(text[1]) < 0xa0;
}

}  // namespace

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (out.size() >= max_bytes) {
      while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0U) == 0x80)
        out.pop_back();
      if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xc0) out.pop_back();
      return out + "…";
    }
    if (const auto length = escape_length(text.substr(i)); length > 0) {
      i += length;
      continue;
    }
    const char c = text[i];
    if (is_c1(text.substr(i))) {
      out += '?';
      i += 2;
      continue;
    }
    if (c == '\n' || c == '\t' || c == '\r') {
      out += ' ';
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += '?';
    } else {
      out += c;
    }
    ++i;
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

}  // namespace mcpac::mcp
