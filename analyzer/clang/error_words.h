// SPDX-License-Identifier: Apache-2.0

// Error words: clang's errors about capabilities, in the words of the program.
//
// Clang names templates of the runtime; the program's author thinks of tools, servers and what its
// Requires holds. Only words come from here: the program is refused already.
#pragma once

#include <functional>
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

// Names in the notes of an error: of "mcp::filesystem::edit_file::Args::Edits" the tool,
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

// Findings of the walk through the program, for the words of one error. The functions may be empty.
struct Known {
  const NarrowedTools& narrowed;
  // The name that stands where the error is.
  std::string word;
  // Members of a generated struct or enum, by its C++ name; empty where there is no such type.
  std::function<std::vector<std::string>(std::string_view cpp)> names_in;
  // Whether a function of the program, by its last name, calls a tool, by its permission.
  std::function<bool(std::string_view function, std::string_view permission)> calls;
  // The member of a struct of the program, or of what a type holds, that keeps it from being read
  // from JSON: "`id` of `Item` is a `std::variant<…>`". Empty where none is known to.
  std::function<std::string(std::string_view type)> unreadable_in;
  // The C++ name of the tool whose result stands in the braces at the error; empty without one.
  std::function<std::string()> result_in_braces;
};

// The name that a mistyped one means: of those that begin as it does, capital or not, first; also a
// plural ("Entity" of "Entities"). Empty where none is near.
[[nodiscard]] std::string meant_of(const std::string& wrong, const std::vector<std::string>& names);

// The permission of the tool whose Result a message names; empty where it names none.
[[nodiscard]] std::string tool_of_result(std::string_view message, const Request& request);

// `notes` are the texts below the error. Nothing where clang's own words are the best there are.
[[nodiscard]] std::optional<Translation> translate(std::string_view message,
                                                   const std::vector<std::string>& notes,
                                                   const Request& request, const Known& known);

}  // namespace mcpac::analyzer
