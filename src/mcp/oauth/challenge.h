// SPDX-License-Identifier: Apache-2.0

// Challenge: a server's 401 or 403 about the token that it wants (RFC 6750, RFC 9728).
//
//   WWW-Authenticate: Bearer error="insufficient_scope", scope="files:write",
//                     resource_metadata="https://…/.well-known/oauth-protected-resource"
#pragma once

#include <string>
#include <string_view>

namespace mcpac::mcp::oauth {

struct Challenge {
  std::string error;              // "invalid_token", "insufficient_scope", or empty
  std::string scope;              // separated by spaces; empty when the server names none
  std::string resource_metadata;  // a URL of the server's choice: hostile
};

// The Bearer challenge among those in the header; empty members when there is none. Never fails: a
// header that cannot be read says nothing.
[[nodiscard]] Challenge parse_challenge(std::string_view header);

}  // namespace mcpac::mcp::oauth
