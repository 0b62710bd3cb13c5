// SPDX-License-Identifier: Apache-2.0

// log_in(), log_out(): a person logs in at one server of the project, now, and out again.
#pragma once

#include <string>

#include "core/error.h"
#include "mcp/oauth/authorizer.h"
#include "mcp/server_config.h"

namespace mcpac::servers {

struct LoginOutcome {
  std::size_t tools = 0;  // that the server lists now
  bool asked = false;     // whether it wanted a login at all
};

// Forgets the token that was kept, connects and lists the tools; `show` gets the login page when
// the server wants one, on this thread. Ctrl-C ends the wait (kInterrupted).
[[nodiscard]] Result<LoginOutcome> log_in(mcp::ServerConfig server,
                                          const mcp::oauth::ShowLogin& show);

using TakenBack = mcp::oauth::Authorizer::TakenBack;
struct LogoutOutcome {
  bool was_kept = false;  // something of a login at this server
  // Whether its tokens are worth nothing any more, or why that is not known.
  Result<TakenBack> taken_back = TakenBack::kNothing;
};
// Forgets the login, in any case, and has its tokens revoked where the authorization server does
// that (RFC 7009).
[[nodiscard]] LogoutOutcome log_out(const mcp::ServerConfig& server);

}  // namespace mcpac::servers
