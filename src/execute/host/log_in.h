// log_in(): a person logs in at one server of the project, now.
#pragma once

#include <functional>
#include <string>

#include "core/error.h"
#include "mcp/server_config.h"

namespace mcpac::execute {

struct LoginOutcome {
  std::size_t tools = 0;  // that the server lists now
  bool asked = false;     // whether it wanted a login at all
};

// Forgets the token that was kept, connects and lists the tools; `show` gets the address of the
// login page when the server wants one. Ctrl-C ends the wait (kInterrupted).
[[nodiscard]] Result<LoginOutcome> log_in(mcp::ServerConfig server,
                                          const std::function<void(const std::string& url)>& show);

// True when something was kept of a login at this server.
bool log_out(const mcp::ServerConfig& server);

}  // namespace mcpac::execute
