// Requires words: what a program makes of Requires and Narrow that they are not.
#pragma once

#include <optional>
#include <string_view>

#include "analyzer/clang/error_words.h"

namespace mcpac::analyzer {

// Of an error of clang; nothing where it is about something else.
[[nodiscard]] std::optional<Translation> translate_requires(std::string_view message,
                                                            const Request& request);

}  // namespace mcpac::analyzer
