// SPDX-License-Identifier: Apache-2.0

// Permission: the name of one tool of one configured server, written "server.tool".
//
// Only parse() and of() make one, so a Permission in hand is well formed: the server is a
// configured name ([A-Za-z0-9_-]+), the tool is the tool's original MCP name, byte for byte.
// Whether it is *held* is another question, answered by policy.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "core/error.h"

namespace mcpac {

class Permission {
 public:
  // "server.tool": everything before the first dot is the server; the tool may contain dots and
  // slashes.
  static Result<Permission> parse(std::string_view text);
  static Result<Permission> of(std::string_view server, std::string_view tool);

  [[nodiscard]] const std::string& server() const { return server_; }
  [[nodiscard]] const std::string& tool() const { return tool_; }
  [[nodiscard]] std::string text() const { return server_ + "." + tool_; }

  friend auto operator<=>(const Permission&, const Permission&) = default;

 private:
  Permission(std::string_view server, std::string_view tool) : server_(server), tool_(tool) {}
  std::string server_;
  std::string tool_;
};

// Pseudo-server in the permissions of an agent's own acts (mcpac.spawn); rules about all servers do
// not speak of them, so no server may have the name.
inline constexpr std::string_view kControlServer = "mcpac";

// A name that may stand for a server in mcpac.json: 1 to 64 of [A-Za-z0-9_-], and not "mcpac".
[[nodiscard]] bool is_server_name(std::string_view text);

}  // namespace mcpac
