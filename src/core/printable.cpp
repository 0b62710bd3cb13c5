#include "core/printable.h"

#include <algorithm>

namespace mcpac {
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

// Length of a bidirectional control or a line separator that is no newline (U+200E, U+200F, U+2028
// to U+202E, U+2066 to U+2069), 0 when there is none.
std::size_t invisible_length(std::string_view text) {
  if (text.size() < 3 || text[0] != '\xe2') return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  const auto third = static_cast<unsigned char>(text[2]);
  const bool marks =
      second == 0x80 && (third == 0x8e || third == 0x8f || (third >= 0xa8 && third <= 0xae));
  const bool isolates = second == 0x81 && third >= 0xa6 && third <= 0xa9;
  return marks || isolates ? 3 : 0;
}

struct Step {
  std::size_t length = 1;
  std::string_view shown;
};

// What to show for the character at the beginning of `text`.
Step step(std::string_view text) {
  if (const auto length = escape_length(text); length > 0) return {length, ""};
  if (is_c1(text)) return {2, "?"};
  if (const auto length = invisible_length(text); length > 0) return {length, "?"};
  const char c = text[0];
  if (c == '\n' || c == '\t' || c == '\r') return {1, " "};
  if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return {1, "?"};
  return {1, text.substr(0, 1)};
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
    const Step at = step(text.substr(i));
    out += at.shown;
    i += at.length;
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const Step at = step(text.substr(i));
    const bool keep = text[i] == '\n' || text[i] == '\t';
    out += keep ? text.substr(i, 1) : at.shown;
    i += at.length;
  }
  return out;
}

}  // namespace mcpac
