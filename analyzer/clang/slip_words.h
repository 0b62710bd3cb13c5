// SPDX-License-Identifier: Apache-2.0

// Slip words: diagnostics for the most frequent mistakes around calls and results, in the words of
// program authors.
//
// Each is an error of clang by the way it begins and by what its notes name. A function that is not
// called, a future that is copied, a class of errors under another name: clang says what C++ lacks,
// and not what to write.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/clang/error_words.h"

namespace mcpac::analyzer {

[[nodiscard]] std::optional<Translation> translate_slip(std::string_view message,
                                                        const std::vector<std::string>& notes,
                                                        const Request& request, const Known& known);

}  // namespace mcpac::analyzer
