// SPDX-License-Identifier: Apache-2.0

// Confusables: names that a reader takes for others (rules confusable-identifier, mixed-script).
//
// After UTS #39: two identifiers are confusable when their skeletons are the same. Only ASCII
// skeletons count here, since the names of the language, the runtime and the generated headers are
// ASCII; and only pairs in which one side has a character beyond ASCII: people may tell l from 1.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/clang/findings.h"
#include "analyzer/clang/tokens.h"

namespace mcpac::analyzer {

namespace detail {
// The characters first…last look like the text; in a run, like the characters from text[0] on.
struct LookAlike {
  char32_t first;
  char32_t last;
  std::string_view text;
};
[[nodiscard]] std::span<const LookAlike> look_alikes();  // sorted
}  // namespace detail

// ASCII look-alike of the identifier; characters without one stay.
[[nodiscard]] std::string skeleton(std::string_view identifier);

// Over the tokens of all files of the program: a twin may stand in another file.
void check_confusables(const std::vector<Token>& tokens, const Request& request,
                       Findings& findings);

}  // namespace mcpac::analyzer
