// SPDX-License-Identifier: Apache-2.0

#include "core/permission.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ascii.h"

namespace mcpac {
namespace {

// MCP asks tool names to be 1 to 128 characters (2025-11-25, "Tool Names"); real servers stay below
// 100. We take longer ones than the specification recommends, but bound them: names end up in logs
// and prompts.
constexpr std::size_t kMaxTool = 256;
constexpr std::size_t kMaxServer = 64;

// Without a dot, so that "server.tool" can be taken apart again.
bool can_name_server(std::string_view text) {
  return !text.empty() && text.size() <= kMaxServer &&
         std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f && c != '.'; });
}

bool has_form_of_server(std::string_view text) {
  return !text.empty() && text.size() <= kMaxServer && std::ranges::all_of(text, is_bare);
}

}  // namespace

bool is_server_name(std::string_view text) {
  return has_form_of_server(text) && text != kControlServer;
}

Result<Permission> Permission::of(std::string_view server, std::string_view tool) {
  if (!can_name_server(server)) {
    return fail(ErrorId::kRuleSyntax,
                fmt::format("'{}' is not a server name", server.substr(0, 80)),
                {.why = "a server name is 1 to 64 printable ASCII characters without a dot",
                 .fix = "mcpac server list"});
  }
  if (tool.empty() || tool.size() > kMaxTool || std::ranges::any_of(tool, is_control)) {
    return fail(
        ErrorId::kRuleSyntax,
        fmt::format("the tool name of server '{}' is empty, too long or has control bytes", server),
        {.why = fmt::format("a tool name is 1 to {} printable bytes", kMaxTool)});
  }
  return Permission(server, tool);
}

Result<Permission> Permission::parse(std::string_view text) {
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) {
    return fail(
        ErrorId::kRuleSyntax, fmt::format("'{}' is not a permission", text.substr(0, 80)),
        {.why = "a permission is written server.tool", .fix = "e.g. filesystem.read_text_file"});
  }
  if (!has_form_of_server(text.substr(0, dot))) {
    return fail(
        ErrorId::kRuleSyntax,
        fmt::format("'{}' is not a server name", text.substr(0, std::min<std::size_t>(dot, 80))),
        {.why = "a server name is 1 to 64 letters, digits, '_' or '-'"});
  }
  return of(text.substr(0, dot), text.substr(dot + 1));
}

}  // namespace mcpac
