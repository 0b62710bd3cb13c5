// An issuer of access tokens, as a test needs one: keys, their set, and tokens as it wants them.
#pragma once

#include <openssl/evp.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/json.h"

namespace mcpac::gateway::testing {

inline constexpr const char* kIssuer = "https://issuer.example";
inline constexpr const char* kAudience = "https://mcpac.example/mcp";
// Seconds since 1970.
[[nodiscard]] std::int64_t now_in(std::chrono::seconds from_now);
// Of alice's editor, for five minutes.
[[nodiscard]] Json claims_of(const std::string& scope = "read");

[[nodiscard]] std::string base64url(std::string_view bytes);

class TestKey {
 public:
  // "RS256", "PS256", "ES256" or "EdDSA".
  TestKey(std::string algorithm, std::string id);
  [[nodiscard]] Json jwk() const;
  // The token; its header is {"alg", "kid", "typ": "at+jwt"}, and what `header` says otherwise;
  // null takes a member away.
  [[nodiscard]] std::string sign(const Json& claims, const Json& header = Json::object()) const;
  [[nodiscard]] std::string signature_of(std::string_view text) const;

 private:
  std::string algorithm_;
  std::string id_;
  std::shared_ptr<EVP_PKEY> key_;
};

}  // namespace mcpac::gateway::testing
