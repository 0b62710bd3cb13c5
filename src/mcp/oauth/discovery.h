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

// The document that the challenge names, else the well-known places (RFC 9728). Of the
// authorization servers that it lists: `issuer`, letter by letter, or an error when that is not
// among them; where `issuer` is empty, the first. A server without such a document is its own
// authorization server, as in revision 2025-03-26, unless `issuer` names one.
boost::asio::awaitable<Result<Discovered>> discover(const Web& web, Url server, Challenge challenge,
                                                    std::string issuer);

}  // namespace mcpac::mcp::oauth
