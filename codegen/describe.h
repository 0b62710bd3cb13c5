// SPDX-License-Identifier: Apache-2.0

// Describe: one tool as a person or a model needs it, the C++ that a caller writes.
#pragma once

#include <string>

#include "codegen/lock.h"

namespace mcpac::codegen {

// The tool's description, its arguments and result as structs with every field explained. Safe to
// print on a terminal.
[[nodiscard]] std::string declaration(const LockedServer& server, const LockedTool& tool);

// The same with a call that compiles, given the permission, and the command that runs it.
[[nodiscard]] std::string describe_tool(const LockedServer& server, const LockedTool& tool);

// The argument of --grant for this tool, quoted for a shell where it must be.
[[nodiscard]] std::string grant_text(const LockedServer& server, const LockedTool& tool);

// The arguments of that call: {.path = "text"}; empty where the tool wants none.
[[nodiscard]] std::string example_arguments(const LockedServer& server, const LockedTool& tool);

// The call alone: rt.filesystem.read_text_file({.path = "text"})
[[nodiscard]] std::string example_call(const LockedServer& server, const LockedTool& tool);

}  // namespace mcpac::codegen
