// SPDX-License-Identifier: Apache-2.0

#include "core/printable.h"

#include <algorithm>
#include <cstdint>

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

enum class Hides : std::uint8_t { kValue, kProse };

// One character at a time, and what is shown of it.
class Steps {
 public:
  Steps(std::string_view text, Hides hides) : rest_(text), hides_(hides) {}
  [[nodiscard]] bool done() const { return rest_.empty(); }
  [[nodiscard]] std::string_view rest() const { return rest_; }
  void skip(std::size_t bytes) { rest_.remove_prefix(bytes); }
  // Newlines, tabs and returns are blanks.
  void next(std::string& out) {
    const auto [code, bytes] = first_character(rest_);
    const std::string_view piece = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    const bool hidden = is_hidden(code);
    before_ = hidden ? 0 : code;
    if (code == '\n' || code == '\t' || code == '\r') {
      out += ' ';
    } else if (code == Character::kBroken && bytes == 1) {
      append_escaped_byte(out, piece.front());
    } else if (hidden) {
      append_escaped(out, code);
    } else {
      out += piece;
    }
  }

 private:
  [[nodiscard]] bool is_hidden(char32_t code) const {
    if (hides_ == Hides::kValue) return is_invisible(code);
    return is_hidden_in_prose(before_, code, rest_.empty() ? 0 : first_character(rest_).code);
  }
  std::string_view rest_;
  Hides hides_;
  char32_t before_ = 0;
};

std::string one_line(std::string_view text, std::size_t max_bytes, Hides hides) {
  std::string out;
  for (Steps steps(text, hides); !steps.done();) {
    if (out.size() >= max_bytes) {
      while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0U) == 0x80)
        out.pop_back();
      if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xc0) out.pop_back();
      return out + "…";
    }
    if (const auto length = escape_length(steps.rest()); length > 0)
      steps.skip(length);
    else
      steps.next(out);
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

}  // namespace

std::string printable(std::string_view text, std::size_t max_bytes) {
  return one_line(text, max_bytes, Hides::kValue);
}

std::string printable_prose(std::string_view text, std::size_t max_bytes) {
  return one_line(text, max_bytes, Hides::kProse);
}

std::string printable_in_place(std::string_view text) {
  std::string out;
  for (Steps steps(text, Hides::kValue); !steps.done();) steps.next(out);
  return out;
}

std::size_t printable_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(printable_in_place(text), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80;
  }));
}

std::string printable_lines(std::string_view text) {
  std::string out;
  for (Steps steps(text, Hides::kProse); !steps.done();) {
    const char first = steps.rest().front();
    if (first == '\n' || first == '\t') {
      out += first;
      steps.skip(1);
    } else if (const auto length = escape_length(steps.rest()); length > 0) {
      steps.skip(length);
    } else {
      steps.next(out);
    }
  }
  return out;
}

}  // namespace mcpac
