// SPDX-License-Identifier: Apache-2.0

// Text of servers on its way into C++ source: always data, never code.
//
// A description can hold comment ends, trigraphs, a backslash at the end of a line (which would
// join the next line to a comment), control characters, and bidirectional controls that make an
// editor show something else than the compiler reads ("Trojan Source"). These functions leave none
// of them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpac::codegen {

// One line, safe in every kind of comment and on a terminal: line ends become spaces, control and
// invisible characters (core/characters.h) become "<U+202E>", comment marks are pulled apart,
// invalid UTF-8 is U+FFFD. For names and values, and for what a person compares.
[[nodiscard]] std::string safe_line(std::string_view text);

// The same for prose, in which what joins emoji and letters stays.
[[nodiscard]] std::string safe_prose(std::string_view text);

// The same, with the line breaks of the text kept and long lines wrapped at `width`.
[[nodiscard]] std::vector<std::string> safe_lines(std::string_view text, std::size_t width = 96);

// One line of at most `max_bytes` for a language model: control, bidirectional and invisible
// characters (also the joiners, variation selectors and tags, which can smuggle text past a reader)
// are gone, white space is one space, and nothing can close a code fence or open a chat template's
// mark. It is still the server's text: say so beside it.
[[nodiscard]] std::string prompt_line(std::string_view text, std::size_t max_bytes);

// The first sentence, or first line, of a longer text.
[[nodiscard]] std::string_view first_sentence(std::string_view text);

// A line as Doxygen text: no word of it is a command, a tag, a reference or a code fence.
[[nodiscard]] std::string doxygen_line(std::string_view safe_line);

// A string literal in quotes, pure ASCII, that no preprocessor can read otherwise.
[[nodiscard]] std::string string_literal(std::string_view text);

// JSON text of a string, in quotes, with control, bidirectional and invisible characters as \uXXXX.
[[nodiscard]] std::string json_string(std::string_view text);

// Cut to at most `max_bytes` at a character's border; says so with " …" at the end.
[[nodiscard]] std::string cut(std::string_view text, std::size_t max_bytes);

}  // namespace mcpac::codegen
