// SPDX-License-Identifier: Apache-2.0

// Characters of UTF-8 text: strict decoding, and the one table of those that a reader does not see.
//
// Every place that shows untrusted text (a terminal, a log, a comment of a generated header) asks
// here, so that no place lets through what another knows to be a trick.
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
// Strict (no overlong forms, no surrogates): what a lenient reader admits, a compiler refuses.
[[nodiscard]] Character first_character(std::string_view text);

// `code` is one of Unicode's, or what is written is none.
void append_utf8(std::string& out, char32_t code);

// Default_Ignorable_Code_Point of Unicode 16.0 (DerivedCoreProperties.txt): no font draws it, and
// file systems that fold case leave it out of a name.
[[nodiscard]] bool is_ignorable(char32_t code);

// Characters that are invisible, or cannot be told from others: controls (C0, DEL, C1), all that is
// ignorable (joiners, variation selectors, tags, fillers), what turns the direction or ends the
// line of others, and blanks that are not U+0020 (U+00A0, U+2800, U+3000, …). For values and names,
// where each character counts.
[[nodiscard]] bool is_invisible(char32_t code);

// The same for prose (a description, a message), in which some of them do their work: a joiner
// between two characters beyond ASCII (emoji, Persian, Indian scripts), U+FE0E or U+FE0F after one
// or after a digit, '#' or '*' (emoji), and blanks that are as wide as they look. `before` and
// `after` are the neighbours, 0 where there is none.
[[nodiscard]] bool is_hidden_in_prose(char32_t before, char32_t code, char32_t after);

// Blanks but U+0020 and controls: a reader sees a gap.
[[nodiscard]] bool is_wide_blank(char32_t code);

// Text of such a character within a value: as JSON escapes it, "\u200c", "\udb40\udc41". Rules read
// it back, since their strings are JSON's. A byte that begins no UTF-8 is "\xff".
void append_escaped(std::string& out, char32_t code);
void append_escaped_byte(std::string& out, char byte);

// A call of `visit(Character, piece, hidden)` for each character of prose, in turn.
template <class Visit>
void for_each_in_prose(std::string_view text, Visit visit) {
  char32_t before = 0;
  while (!text.empty()) {
    const Character now = first_character(text);
    const std::string_view piece = text.substr(0, now.bytes);
    text.remove_prefix(now.bytes);
    const char32_t after = text.empty() ? 0 : first_character(text).code;
    const bool hidden = is_hidden_in_prose(before, now.code, after);
    visit(now, piece, hidden);
    before = hidden ? 0 : now.code;
  }
}

// True where some character of the text, read as prose, is hidden or broken; so newlines and tabs
// count, too.
[[nodiscard]] bool has_invisible(std::string_view text);

}  // namespace mcpac
