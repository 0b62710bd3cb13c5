// discover(): from a server's challenge to the authorization server that gives tokens for it.
#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include "core/error.h"
#include "mcp/oauth/challenge.h"
#include "mcp/oauth/metadata.h"
#include "mcp/oauth/web.h"

namespace mcpac::mcp::oauth {

struct Discovered {
  ProtectedResource resource{};
  AuthorizationServer server{};
};

// The document that the challenge names, else the well-known places (RFC 9728); the first
// authorization server that it lists. A server without such a document is its own authorization
// server, as in revision 2025-03-26.
boost::asio::awaitable<Result<Discovered>> discover(const Web& web, Url server,
                                                    Challenge challenge);

}  // namespace mcpac::mcp::oauth
