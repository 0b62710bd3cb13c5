// Error words: what clang says of capabilities, in the words of the program.
//
// Clang names templates of the runtime; who wrote the program thinks of tools, servers and what its
// Requires holds. Only words come from here: the program is refused already.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyzer/report.h"

namespace mcpac::analyzer {

struct Translation {
  std::string message;
  std::string fix;
};

// Nothing where clang's own words are the best there are.
[[nodiscard]] std::optional<Translation> translate(std::string_view message,
                                                   const Request& request);

}  // namespace mcpac::analyzer
