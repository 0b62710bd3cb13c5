// SPDX-License-Identifier: Apache-2.0

// Suggestions: less that a program could declare and still do all that its source shows.
//
// A tool that nothing uses can go; one whose every use passes constants for an argument can be
// narrowed to those constants. The text is the grant language, printed by its printer, in a Narrow
// to paste. Nothing is suggested where one use could not be read: a callable that is handed on may
// be called with anything.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzer/report.h"

namespace mcpac::run {

struct Suggestion {
  enum class Kind : std::uint8_t { kUnused, kNarrower };
  Kind kind = Kind::kUnused;
  std::string permission;
  std::string where;    // the condition of the Narrow; empty for what is unused
  std::string message;  // what to do, in one sentence
  std::string code;     // to paste; empty for what is unused
};

// `tags`: the C++ name of every permission, as the lock has it.
[[nodiscard]] std::vector<Suggestion> suggestions(const analyzer::Report& report,
                                                  const std::map<std::string, std::string>& tags);
[[nodiscard]] Json to_json(const Suggestion& suggestion);
// "note: …" with the code below, indented.
[[nodiscard]] std::string to_human_text(const Suggestion& suggestion);

}  // namespace mcpac::run
