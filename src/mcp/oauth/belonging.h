// SPDX-License-Identifier: Apache-2.0

// what_belongs(): the part of a stored login that may be used for a server as configured now.
//
// The file of a login is named after the server and its URL as it is written. Whatever else it
// hangs on may have changed since: what a variable in that URL stands for, the authorization
// server that the user names, the client that the user registered.
#pragma once

#include <string>
#include <string_view>

#include "mcp/oauth/settings.h"
#include "mcp/oauth/store.h"

namespace mcpac::mcp::oauth {

// Nothing of a login at another place or another issuer; no tokens that another client got.
[[nodiscard]] Kept what_belongs(Kept kept, const Settings& settings, std::string_view place);

// There is a login or a registration, and not only a request to log in.
[[nodiscard]] bool is_login(const Kept& kept);

// What to type to register and log in anew, wherever the server leads now.
[[nodiscard]] std::string login_again(const std::string& server);

}  // namespace mcpac::mcp::oauth
