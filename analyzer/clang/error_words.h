// Error words: what clang says of capabilities, in the words of the program.
//
// Clang names templates of the runtime; who wrote the program thinks of tools, servers and what its
// Requires holds. Only words come from here: the program is refused already.
#pragma once

#include <map>
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

// What the notes of an error name: of "mcp::filesystem::edit_file::Args::Edits" the tool,
// "filesystem::edit_file", and which struct in its Args, "Edits". Empty where none does.
struct NamedArgs {
  std::string tool;
  std::string inside;
};
[[nodiscard]] NamedArgs args_in(const std::vector<std::string>& notes);

// Whether a text that was written for an enumerator is none of its texts.
[[nodiscard]] bool is_unknown_enumerator(std::string_view message);

// The name that `message` says is declared nowhere, as a server that the project does not have; for
// a name that stands before `::`. Nothing where it says something else.
[[nodiscard]] std::optional<Translation> translate_server(std::string_view message,
                                                          const Request& request);

// The program's own narrowed tools, by their C++ names: the permission that each is a part of.
using NarrowedTools = std::map<std::string, std::string>;

// `notes` are the texts below the error. Nothing where clang's own words are the best there are.
[[nodiscard]] std::optional<Translation> translate(std::string_view message,
                                                   const std::vector<std::string>& notes,
                                                   const Request& request,
                                                   const NarrowedTools& narrowed);

}  // namespace mcpac::analyzer
