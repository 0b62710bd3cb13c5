// SPDX-License-Identifier: Apache-2.0

// shell_quoted: one word for a POSIX shell, in every text of ours that people or agents may paste.
//
// Rules hold what an outsider wrote (names of tools, tests of a program's note), so a quote within
// them must not end ours. There is this one quoter and no other.
#pragma once

#include <string>
#include <string_view>

namespace mcpac {

// As it is where no character means anything to a shell, else within single quotes.
[[nodiscard]] std::string shell_quoted(std::string_view word);

}  // namespace mcpac
