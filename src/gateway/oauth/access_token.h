// AccessToken: a JWT of the issuer (RFC 7519, RFC 9068), taken apart and held against what must
// hold.
//
// Nothing of it is believed before its signature was verified, by a key that the issuer publishes
// and this gateway chose: what a token says of keys (jwk, jku, x5u, x5c) is not read. A token for
// another resource, of another issuer, over, or not yet in force is nothing; so is one that is
// bound to a key of its holder (cnf), since nothing here asks for the proof. Pure, but for the time
// that it is given.
#pragma once

#include <chrono>
#include <expected>
#include <set>
#include <string>
#include <string_view>

#include "gateway/oauth/signature.h"

namespace mcpac::gateway::oauth {

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
