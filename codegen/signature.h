// SPDX-License-Identifier: Apache-2.0

// Signature: one tool as one line of C++ that a model or a person calls from.
//
//   create_issue{string title; string? body; vector<string>? labels; enum State{open, closed}?
//   state}
//
// Members stand in the order of designated initialisers; "T?" may be left out, "T|null" may not;
// std:: and mcpac:: are left out because every token is paid for. What the schema says of an
// argument stands behind it in /* */, a few words, where there are few members. Nested types stand
// where they are first used. A signature is bounded: what is too large loses its inner levels ("…")
// first.
#pragma once

#include <cstddef>
#include <string>

#include "codegen/lock.h"

namespace mcpac::codegen {

// "get_sum", the name without its namespace.
[[nodiscard]] std::string short_name(const std::string& cpp_name);

// The line above, without its description; with "-> {…}" where the tool declares its result.
[[nodiscard]] std::string signature(const LockedServer& server, const LockedTool& tool);

// The server's description of the tool, one line for a prompt: its first sentence, else its title.
[[nodiscard]] std::string summary(const LockedTool& tool, std::size_t max_bytes);

}  // namespace mcpac::codegen
