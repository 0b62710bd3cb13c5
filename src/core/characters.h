// Characters of UTF-8 text: strict decoding, and the one table of those that a reader does not see.
//
// Whoever shows text of an outsider (a terminal, a log, a comment of a generated header) asks here,
// so that no place lets through what another knows to be a trick.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mcpac {

struct Character {
  static constexpr char32_t kBroken = 0xFFFD;
  char32_t code = kBroken;
  std::size_t bytes = 1;
};

// The first character of `text`, which is not empty; kBroken, one byte, where no UTF-8 begins.
// Strict (no overlong forms, no surrogates): what a lenient reader lets in, a compiler refuses.
[[nodiscard]] Character first_character(std::string_view text);

// `code` is one of Unicode's, or what is written is none.
void append_utf8(std::string& out, char32_t code);

// Controls (C0, DEL, C1), and the characters that have no glyph or turn the direction of others.
// The joiners U+200C and U+200D are none: emoji, Persian and Indian scripts need them.
[[nodiscard]] bool is_invisible(char32_t code);
// True where some character of the text is invisible or broken; so newlines and tabs count, too.
[[nodiscard]] bool has_invisible(std::string_view text);

}  // namespace mcpac
