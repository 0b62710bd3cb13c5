// SPDX-License-Identifier: Apache-2.0

// Asking real servers for their tools, all at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/tool_definition.h"
#include "mcp/oauth/login_page.h"
#include "mcp/server_config.h"

namespace mcpac::project {

struct ServerProgress {
  std::string server;
  // kLeftOut comes before kListed, once for each tool that cannot be used; kSlow while the server
  // does not answer, again and again.
  enum class State : std::uint8_t {
    kConnecting,
    kSlow,
    kLeftOut,
    kListed,
    kFailed
  } state = State::kConnecting;
  std::size_t tools = 0;
  Error error;  // when kFailed; its `what` when kLeftOut or kSlow
};

// Called on the caller's thread.
using OnProgress = std::function<void(const ServerProgress&)>;

// Shows a person where to log in; null where no person is there.
using OnLogin = mcp::oauth::ShowLogin;

// Connects to every server that is not disabled; one answer or error each. An Error only when a
// signal came.
[[nodiscard]] Result<std::map<std::string, Result<ServerListing>>> ask_servers(
    const std::vector<mcp::ServerConfig>& servers, const OnProgress& progress,
    const OnLogin& login = nullptr);

// The same, all or nothing: one server that fails makes the whole fail.
[[nodiscard]] Result<std::vector<ServerListing>> list_servers(
    const std::vector<mcp::ServerConfig>& servers, const OnProgress& progress,
    const OnLogin& login = nullptr);

// A value of its entry as the server gets it; as it stands where it cannot be expanded, for then it
// does not start. `where`: the entry's member, for errors.
[[nodiscard]] std::string server_text(const std::string& text, std::string_view where);

}  // namespace mcpac::project
