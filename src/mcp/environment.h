// SPDX-License-Identifier: Apache-2.0

// The environment of a server: the few variables that any program needs, those that say how the
// network is reached (is_network_variable() in mcp/proxy.h), and what its entry names.
//
// Everything else stays behind: the shell that starts mcpac holds tokens that are no server's
// business. Other MCP clients pass the same few, so servers that run there run here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace mcpac::mcp {

// PATH HOME LANG LC_* TERM TMPDIR USER LOGNAME SHELL XDG_*; PWD is told by the kernel anyway.
[[nodiscard]] bool is_base_variable(std::string_view name);

// Whom the variables are for: a server with all that its user has, or one in a sandbox, whose home
// and folders are others, and whose network is its own: PATH LANG LC_* TZ.
enum class VariablesFor : std::uint8_t { kOrdinary, kConfined };

// "NAME=value", sorted; `configured` wins over ours.
[[nodiscard]] std::vector<std::string> make_environment(
    const std::map<std::string, std::string>& configured,
    VariablesFor whom = VariablesFor::kOrdinary);

// The program that `command` means, as a shell would find it in PATH of that environment. Relative
// PATH entries are left out: what the current folder happens to hold must not become a server.
[[nodiscard]] Result<std::string> find_program(const std::string& command,
                                               const std::vector<std::string>& environment);

}  // namespace mcpac::mcp
