// SPDX-License-Identifier: Apache-2.0

// choose_client(): mcpac's client identity at an authorization server.
//
// In this order: the client that the user registered by hand ("auth.clientId"), a client id that is
// a URL of a document ("auth.clientMetadataUrl") where the server knows that, what an earlier login
// registered, and dynamic registration (RFC 7591).
#pragma once

#include <boost/asio/awaitable.hpp>

#include "core/error.h"
#include "mcp/oauth/metadata.h"
#include "mcp/oauth/settings.h"
#include "mcp/oauth/store.h"
#include "mcp/oauth/web.h"

namespace mcpac::mcp::oauth {

// `kept` is the client of an earlier login at this very issuer, or empty. `port` is where the
// answer of the login page is awaited: registered redirect addresses are compared with it; 0: no
// answer is awaited, for the login is by a code. Where the server takes no redirect to 127.0.0.1,
// and the user named no host, localhost is registered; what it became stands in the client.
boost::asio::awaitable<Result<ClientId>> choose_client(const Web& web, AuthorizationServer server,
                                                       Settings settings, ClientId kept,
                                                       std::uint16_t port);

// The client that the user registered by hand; an empty id where there is none.
[[nodiscard]] ClientId configured_client(const AuthorizationServer& server,
                                         const Settings& settings);

[[nodiscard]] std::string redirect_uri(const std::string& host, std::uint16_t port);

}  // namespace mcpac::mcp::oauth
