// What changed in a text of a server (a description), for a terminal: lines that begin with '-'
// and '+', unchanged ones left out.
//
// Descriptions are paragraphs in one line, so the unit is the sentence, not the line. Every line
// begins with a mark of ours and holds only what safe_line() lets through: a text cannot draw a
// diff of its own. Bounded, however long the texts are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mcpac::codegen {

// "- old sentence", "+ new sentence", "  …" for what is the same. Empty where nothing changed.
[[nodiscard]] std::vector<std::string> text_change(std::string_view before, std::string_view after);

}  // namespace mcpac::codegen
