// SPDX-License-Identifier: Apache-2.0

// log_in(): a person says yes in a browser (OAuth 2.1, authorization code with PKCE).
#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include "core/error.h"
#include "mcp/oauth/discovery.h"
#include "mcp/oauth/login_page.h"
#include "mcp/oauth/settings.h"
#include "mcp/oauth/store.h"
#include "mcp/oauth/web.h"

namespace mcpac::mcp::oauth {

struct LoggedIn {
  ClientId client{};
  Tokens tokens{};
};

// `kept` is what an earlier login left at this very issuer. Every answer is held against the login
// that it claims to belong to: state, and the issuer where one is named or announced (RFC 9207).
//
// By a code that the person types at another machine (RFC 8628) where the settings say so, or
// prefer that and the authorization server offers it; one that refuses it to mcpac is logged in at
// in a browser. An authorization server without a page is an error where neither holds.
boost::asio::awaitable<Result<LoggedIn>> log_in(const Web& web, Discovered at, Settings settings,
                                                Kept kept, std::string scope, ShowLogin show);

}  // namespace mcpac::mcp::oauth
