// SPDX-License-Identifier: Apache-2.0

// Diff of a server's text (a description), for a terminal: lines that begin with '-' and '+',
// unchanged ones left out.
//
// Descriptions are paragraphs in one line, so the unit is the sentence, not the line. Every line
// begins with a mark of ours and holds only what safe_line() lets through: a text cannot draw a
// diff of its own. Nothing that changed is left out: a line is bounded, the number of lines is not,
// because what is shown here is what a person approves.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mcpac::codegen {

// `text` in lines of at most 600 of its bytes, each after `mark`.
[[nodiscard]] std::vector<std::string> marked_lines(std::string_view mark, std::string_view text);

// "- before", "+ after". Of values too long for a line only what differs, from the first different
// byte to the last, with a little around it.
[[nodiscard]] std::vector<std::string> value_change(std::string_view before,
                                                    std::string_view after);

// "- old sentence", "+ new sentence", "  …" for what is the same. Empty where nothing changed.
[[nodiscard]] std::vector<std::string> text_change(std::string_view before, std::string_view after);

}  // namespace mcpac::codegen
