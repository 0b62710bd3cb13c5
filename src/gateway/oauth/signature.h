// Signatures of JOSE, as far as access tokens are believed: RS256, PS256, ES256 and EdDSA
// (Ed25519).
//
// Anything else does not exist here: no "none", and no HMAC, whose key would be the public one (RFC
// 8725). OpenSSL's EVP does the arithmetic. Pure.
#pragma once

#include <openssl/evp.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace mcpac::gateway::oauth {

enum class Algorithm : std::uint8_t { kRs256, kPs256, kEs256, kEdDsa };
[[nodiscard]] std::optional<Algorithm> algorithm_from(std::string_view name);

// A public key of a JSON Web Key Set (RFC 7517) that may verify signatures.
struct PublicKey {
  std::string id;                    // kid; empty: it has none
  std::optional<Algorithm> alone{};  // where it says for which algorithm it is
  std::shared_ptr<EVP_PKEY> key;
};

// RSA of 2048 to 8192 bits, P-256, Ed25519. Nothing: another kind, for another use, or malformed.
[[nodiscard]] std::optional<PublicKey> read_key(const Json& jwk);
// Those of a set that can be used. An error in one key leaves the others.
[[nodiscard]] std::vector<PublicKey> read_keys(const Json& set);

// Whether this kind of key makes such signatures, and may.
[[nodiscard]] bool fits(const PublicKey& key, Algorithm algorithm);
[[nodiscard]] bool verifies(const PublicKey& key, Algorithm algorithm, std::string_view text,
                            std::string_view signature);

// base64url without padding, in its one spelling (RFC 7515).
[[nodiscard]] std::optional<std::string> from_base64url(std::string_view text);

}  // namespace mcpac::gateway::oauth
