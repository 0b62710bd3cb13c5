// SPDX-License-Identifier: Apache-2.0

// Asks for more: a function that wants a Requires which the one it is given cannot become.
//
// Conversions of Requires only narrow, so clang finds no function that fits, and its notes name the
// two types. What one holds and the other asks for is the answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/clang/error_words.h"

namespace mcpac::analyzer {

// `notes` are the texts below the error. Where a part of the tool is held, that is what the
// function is told to take: to declare the whole tool would give the program more than it has.
[[nodiscard]] std::optional<Translation> asks_for_more(std::string_view message,
                                                       const std::vector<std::string>& notes,
                                                       const Request& request, const Known& known);

}  // namespace mcpac::analyzer
