// SPDX-License-Identifier: Apache-2.0

// Comments of the generated headers (Doxygen) and of `tools describe` (plain).
//
// Everything in them but our own marks is the server's word, made safe: it ends no comment, holds
// no character that shows something else than it is, and in Doxygen no command, tag or reference.
// Hints and constraints are worded as claims or facts of the schema; mcpac relies on none of them.
#pragma once

#include <string>

#include "codegen/model.h"

namespace mcpac::codegen {

enum class Dialect { kDoxygen, kPlain };  // "/// escaped", "// as it is"

// Comment lines at `indent` spaces: title, description, constraints; empty where there is nothing
// to say.
[[nodiscard]] std::string comment(const Words& words, std::size_t indent, Dialect dialect);

// The same for a tool: title, description, the server's hints, and what a call throws.
[[nodiscard]] std::string tool_comment(const ToolModel& tool, Dialect dialect);

// Behind an enumerator: "  ///< words", empty where there are none.
[[nodiscard]] std::string trailing_comment(const std::string& words, Dialect dialect);

}  // namespace mcpac::codegen
