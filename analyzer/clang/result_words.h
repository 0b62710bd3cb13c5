// SPDX-License-Identifier: Apache-2.0

// Result words: diagnostics for wrong uses of a tool's result.
#pragma once

#include <optional>
#include <string_view>

#include "analyzer/clang/error_words.h"

namespace mcpac::analyzer {

// Of an error of clang; nothing where it is about something else.
[[nodiscard]] std::optional<Translation> translate_result(std::string_view message,
                                                          const Request& request,
                                                          const Known& known);

}  // namespace mcpac::analyzer
