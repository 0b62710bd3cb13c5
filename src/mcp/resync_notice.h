// SPDX-License-Identifier: Apache-2.0

// The notice that replaces lost announcements to a client.
//
// The stream on which a server says that something changed ends now and then: proxies end what is
// silent. What was said until it stood again is unknown; a client that keeps something of the
// server is to compare it.
#pragma once

#include <string_view>

namespace mcpac::mcp {

// The method of a notification that no server has to send; one that does is compared once more.
inline constexpr std::string_view kResync = "notifications/mcpac/hears_again";

}  // namespace mcpac::mcp
