// SPDX-License-Identifier: Apache-2.0

// ResourceServer: mcpac as an OAuth protected resource (RFC 6750, RFC 9728, RFC 8707).
//
// Access tokens are made by an issuer that the user named, for this resource alone; mcpac makes
// none, and hands none on. What a token's scopes are worth is the user's to say: each is a policy
// file of theirs. A client is subject, client and scopes together: the bearer of another token of
// the same is the same client, with the same limits; what ends one client of a subject for good
// ends all of them (Gateway::let_in). On the loop.
#pragma once

#include <expected>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/http/head.h"
#include "gateway/oauth/key_source.h"

namespace mcpac::gateway::oauth {

struct OauthSettings {
  std::string issuer;
  std::string audience;                                 // of this resource, a URL
  std::filesystem::path keys{};                         // empty: those that the issuer publishes
  std::map<std::string, std::filesystem::path> scopes;  // their policy files
};

// kUsage: what cannot be, or is not safe.
[[nodiscard]] Result<void> check(const OauthSettings& settings);

// The bearer of a token, and its policies.
struct Authorized {
  std::string name;     // stands in the record
  std::string subject;  // the same for all tokens of one person, and no other's name
  std::vector<std::filesystem::path> policies;
  Claimed token;                                // without its claims
  std::chrono::system_clock::time_point until;  // its end, and the leeway
};

class ResourceServer {
 public:
  ResourceServer(OauthSettings settings, std::unique_ptr<KeySource> keys, const Clock& clock);

  // An error: 401 for a token that is worth nothing, 403 for one without a scope that opens
  // anything.
  [[nodiscard]] boost::asio::awaitable<std::expected<Authorized, http::Refusal>> admit(
      std::string token);

  // Whether a token that was admitted would still be: its time was not over so long ago, and the
  // issuer did not take its key back, as far as is known now.
  [[nodiscard]] bool still_admits(const Authorized& who, std::chrono::milliseconds grace) const;
  // Asks the issuer for its keys now; until it has answered, and where it does not, those that are
  // known hold on.
  [[nodiscard]] boost::asio::awaitable<void> renew_keys() { co_await keys_->renew(); }

  // The public metadata (RFC 9728), and its place: its path here, and its URL.
  [[nodiscard]] std::string document() const;
  [[nodiscard]] std::string document_path() const;
  // Of WWW-Authenticate, behind what is wrong: where to begin, and which scopes there are.
  [[nodiscard]] std::string challenge() const;

 private:
  [[nodiscard]] std::string all_scopes() const;

  OauthSettings settings_;
  std::unique_ptr<KeySource> keys_;
  const Clock& clock_;
};

}  // namespace mcpac::gateway::oauth
