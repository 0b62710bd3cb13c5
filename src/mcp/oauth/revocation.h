// revoke_tokens(): tells the authorization server that a login is over (RFC 7009).
//
// In the name of the client that the tokens were given to, and to the authorization server that
// gave them, at the endpoint that its own metadata name: no other server hears of a token. The
// refresh token first: with it most servers end what came of it. A token that the server does not
// know is as good as revoked, says the RFC, and answered so.
#pragma once

#include <cstdint>

#include <boost/asio/awaitable.hpp>

#include "core/error.h"
#include "mcp/oauth/metadata.h"
#include "mcp/oauth/settings.h"
#include "mcp/oauth/store.h"
#include "mcp/oauth/web.h"

namespace mcpac::mcp::oauth {

// `server` must have a revocation endpoint. Errors never name what was sent.
boost::asio::awaitable<Result<void>> revoke_tokens(const Web& web, AuthorizationServer server,
                                                   ClientId client, Settings settings,
                                                   Tokens tokens);

}  // namespace mcpac::mcp::oauth
