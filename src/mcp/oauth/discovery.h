// SPDX-License-Identifier: Apache-2.0

// discover(): from a server's challenge to the authorization server that gives tokens for it.
#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include "core/error.h"
#include "mcp/oauth/challenge.h"
#include "mcp/oauth/form.h"
#include "mcp/oauth/metadata.h"
#include "mcp/oauth/web.h"

namespace mcpac::mcp::oauth {

struct Discovered {
  ProtectedResource resource{};
  AuthorizationServer server{};
};

// The only authorization server that may be asked for anything, and who said so. Without an issuer
// it is the server's own choice.
struct Bound {
  std::string issuer{};
  std::string by{};        // in an error: "than …"
  std::string fix{};       // ... and what to do
  std::string resource{};  // that the user says tokens are for; empty: nothing is said
};

// The document that the challenge names, else the well-known places (RFC 9728). Of the
// authorization servers that it lists: the bound one (is_same_issuer), or an error when that is
// not among them; else the first. A server without such a document is its own authorization server,
// as in revision 2025-03-26, unless it is bound to one.
boost::asio::awaitable<Result<Discovered>> discover(const Web& web, Url server, Challenge challenge,
                                                    Bound bound);

// Puts into a request what the token is for (RFC 8707), where that is to be said.
void add_resource(Parameters& parameters, const Discovered& at);

// What an authorization server publishes about itself.
boost::asio::awaitable<Result<AuthorizationServer>> look_up(const Web& web, std::string issuer);

}  // namespace mcpac::mcp::oauth
