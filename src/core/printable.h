// Text that an outsider wrote (a server, a program, a cloned file), made fit for a terminal, a log
// and an error message.
//
// Control characters could move the cursor or rewrite what we printed ourselves, and invisible
// characters (core/characters.h) show a reader another text than there is: each becomes '?'.
// Escape sequences for colours are dropped whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mcpac {

// One line: newlines and tabs become spaces.
[[nodiscard]] std::string printable(std::string_view text, std::size_t max_bytes = 1'000);
// One line in which each character stays where it is, for carets below it: nothing is dropped, not
// even an escape sequence, and nothing is cut.
[[nodiscard]] std::string printable_in_place(std::string_view text);
// Several lines, kept as lines; nothing is cut.
[[nodiscard]] std::string printable_lines(std::string_view text);

}  // namespace mcpac
