// SPDX-License-Identifier: Apache-2.0

// Text that an outsider wrote (a server, a program, a cloned file), made fit for a terminal, a log
// and an error message.
//
// Control characters could move the cursor or rewrite what we printed ourselves, and invisible
// characters (core/characters.h) show a reader another text than there is: each is shown by its
// number, as JSON escapes it ("\u200c"), so that a value or a rule can be copied from what is shown
// and is the very same. A byte that is no UTF-8 is "\xff".
//
// Values, names and rules are shown exactly. In prose (a description, a message, a log) what
// joins emoji and letters stays, as people write it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mcpac {

// One line: newlines and tabs become spaces, escape sequences for colours are dropped whole.
[[nodiscard]] std::string printable(std::string_view text, std::size_t max_bytes = 1'000);
// One line in which nothing is dropped, not even an escape sequence, and nothing is cut.
[[nodiscard]] std::string printable_in_place(std::string_view text);
// Number of characters in printable_in_place(text): the column of a caret below it.
[[nodiscard]] std::size_t printable_width(std::string_view text);

// One line of prose, as printable().
[[nodiscard]] std::string printable_prose(std::string_view text, std::size_t max_bytes = 1'000);
// Several lines of prose, kept as lines; nothing is cut.
[[nodiscard]] std::string printable_lines(std::string_view text);

}  // namespace mcpac
