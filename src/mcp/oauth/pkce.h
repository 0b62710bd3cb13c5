// SPDX-License-Identifier: Apache-2.0

// Secrets of one login: the code verifier (RFC 7636) and the state that binds the answer to it.
#pragma once

#include <string>
#include <string_view>

namespace mcpac::mcp::oauth {

// 43 characters of base64url: 256 random bits.
[[nodiscard]] std::string random_word();
// The S256 challenge of a verifier.
[[nodiscard]] std::string code_challenge(std::string_view verifier);
[[nodiscard]] std::string base64url(std::string_view bytes);
[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace mcpac::mcp::oauth
