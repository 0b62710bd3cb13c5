// Error words: what clang says of capabilities, in the words of the program.
//
// Clang names templates of the runtime; who wrote the program thinks of tools, servers and what its
// Requires holds. Only words come from here: the program is refused already.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report.h"

namespace mcpac::analyzer {

struct Translation {
  std::string message;
  std::string fix;
};

// The tool, "filesystem::edit_file", whose Args the notes of an error name; empty where none does.
[[nodiscard]] std::string tool_in(const std::vector<std::string>& notes);

// `notes` are the texts below the error. Nothing where clang's own words are the best there are.
[[nodiscard]] std::optional<Translation> translate(std::string_view message,
                                                   const std::vector<std::string>& notes,
                                                   const Request& request);

}  // namespace mcpac::analyzer
