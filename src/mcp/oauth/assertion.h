// SPDX-License-Identifier: Apache-2.0

// Assertion: a short-lived signed statement by which a client proves who it is (RFC 7523,
// "private_key_jwt").
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace mcpac::mcp::oauth {

// `private_key` is PEM: P-256 signs with ES256, RSA with RS256, Ed25519 with EdDSA. `key_id` may be
// empty. Good for a minute, and for `audience` (the issuer) alone.
[[nodiscard]] Result<std::string> client_assertion(std::string_view private_key,
                                                   std::string_view key_id,
                                                   std::string_view client_id,
                                                   std::string_view audience);

}  // namespace mcpac::mcp::oauth
