// SPDX-License-Identifier: Apache-2.0

// AccessToken: a JWT of the issuer (RFC 7519, RFC 9068), taken apart and held against what must
// hold.
//
// Nothing of it is believed before its signature was verified, by a key that the issuer publishes
// and this gateway chose: what a token says of keys (jwk, jku, x5u, x5c) is not read. A token for
// another resource, of another issuer, over, or not yet in force is nothing; so is one that is
// bound to a key of its holder (cnf), since nothing here asks for the proof. Pure, but for the time
// that it is given.
#pragma once

#include <openssl/evp.h>

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace mcpac::gateway::oauth {

// Signatures of JOSE, as far as access tokens are believed: RS256, PS256, ES256 and EdDSA
// (Ed25519).
//
// Anything else does not exist here: no "none", and no HMAC, whose key would be the public one (RFC
// 8725). OpenSSL's EVP does the arithmetic. Pure.
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

struct Expected {
  std::string issuer;    // compared as text, to the character
  std::string audience;  // this resource
  std::chrono::seconds leeway{60};
};

// A token that was not verified yet.
struct Claimed {
  Algorithm algorithm = Algorithm::kRs256;
  std::string key_id;       // empty: it names none
  std::string signed_text;  // header and claims, as they came
  std::string signature;
  Json claims;
};

// The bearer of the token, once it was verified.
struct Bearer {
  std::string subject;
  std::string client;  // client_id or azp; empty: it does not say
  std::set<std::string> scopes;
  std::chrono::system_clock::time_point until;  // its end, and the leeway
};

// The text says why, for the user and the record; it holds nothing of the token.
[[nodiscard]] std::expected<Claimed, std::string> parse_token(std::string_view text);
// Its claims, held against what is expected; the signature apart.
[[nodiscard]] std::expected<Bearer, std::string> check_claims(
    const Claimed& token, const Expected& expected, std::chrono::system_clock::time_point now);

}  // namespace mcpac::gateway::oauth
