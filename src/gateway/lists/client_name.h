// SPDX-License-Identifier: Apache-2.0

// Client names: names of tools at a door for ordinary MCP clients.
//
// A permission is "server.tool"; some clients take only letters, digits, '_' and '-', and at most
// 64 of them. Whatever the form, two tools never share a name, and no server can take the name of
// another's tool: where two would be called alike, both carry digits of their permission's digest.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/permission.h"

namespace mcpac::gateway {

enum class NameForm : std::uint8_t {
  kDotted,  // server.tool, as everywhere in mcpac
  kPlain,   // server__tool, for clients that cannot take dots
  kBare,    // tool, for a gateway that stands before one server
};

// "dotted", "plain", "bare".
[[nodiscard]] std::string_view to_string(NameForm form);

// One name each, none of `taken`; the same permissions have the same names.
[[nodiscard]] std::map<std::string, Permission> client_names(
    const std::vector<Permission>& permissions, NameForm form,
    const std::set<std::string>& taken = {});

// The same of prompts, which only their servers list: a name never depends on what another server
// lists, or on whether it answers. `servers`: all that may have some. Where that are several, the
// bare form is the plain one.
[[nodiscard]] std::map<std::string, Permission> names_of_prompts(
    const std::vector<Permission>& prompts, NameForm form, const std::set<std::string>& servers);

}  // namespace mcpac::gateway
