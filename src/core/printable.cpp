#include "core/printable.h"

#include "core/characters.h"

namespace mcpac {
namespace {

// Length of an escape sequence "ESC [ parameters final" at the start of `text`, 0 when there is
// none.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2 || text[0] != '\x1b' || text[1] != '[') return 0;
  std::size_t i = 2;
  // Only what colours use: a quote that vanished would change what a shell makes of our text.
  while (i < text.size() && ((text[i] >= '0' && text[i] <= '9') || text[i] == ';')) ++i;
  return i < text.size() && text[i] >= 0x40 && text[i] < 0x7f ? i + 1 : 0;
}

struct Step {
  std::size_t length = 1;
  std::string_view shown;
};

// What to show for the character at the beginning of `text`.
Step step(std::string_view text) {
  if (const auto length = escape_length(text); length > 0) return {length, ""};
  const auto [code, bytes] = first_character(text);
  if (code == '\n' || code == '\t' || code == '\r') return {1, " "};
  if (is_invisible(code)) return {bytes, "?"};
  // A lone byte of 0x80 to 0x9F is a control to a terminal that does not speak UTF-8.
  if (code == Character::kBroken && bytes == 1) return {1, "?"};
  return {bytes, text.substr(0, bytes)};
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

std::string printable_in_place(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto [code, bytes] = first_character(text);
    const bool broken = code == Character::kBroken && bytes == 1;
    out += code == '\n' || code == '\t' || code == '\r' ? " "
           : is_invisible(code) || broken               ? std::string_view("?")
                                                        : text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
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
