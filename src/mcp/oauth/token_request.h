// SPDX-License-Identifier: Apache-2.0

// request_tokens(): one request to a token endpoint, in the client's name.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "core/error.h"
#include "mcp/oauth/form.h"
#include "mcp/oauth/metadata.h"
#include "mcp/oauth/settings.h"
#include "mcp/oauth/store.h"
#include "mcp/oauth/web.h"

namespace mcpac::mcp::oauth {

// `parameters` are the grant's own ("grant_type", "code", …); how the client proves who it is comes
// on top. Errors name the endpoint and the error code of RFC 6749, never what was sent or got.
boost::asio::awaitable<Result<Tokens>> request_tokens(const Web& web, AuthorizationServer server,
                                                      ClientId client, Settings settings,
                                                      Parameters parameters);

// Whether an error of request_tokens() is this code of RFC 6749 or RFC 8628.
[[nodiscard]] bool is_refused_with(const Error& error, std::string_view code);

inline constexpr const char* kDeviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

// Puts into a request how the client proves to this server who it is.
[[nodiscard]] Result<void> prove(WebRequest& request, Parameters& parameters,
                                 const AuthorizationServer& server, const ClientId& client,
                                 const Settings& settings);

// "none", "client_secret_basic", "client_secret_post" or "private_key_jwt": what the server takes
// and the client has. Where the server does not say, RFC 8414 means client_secret_basic.
[[nodiscard]] std::string method_for(const AuthorizationServer& server, const Settings& settings);

}  // namespace mcpac::mcp::oauth
