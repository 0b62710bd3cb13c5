// SPDX-License-Identifier: Apache-2.0

// Tokens: bearer tokens for HTTP clients, each with its policy.
//
// A token is 256 random bits, shown once; kept is its SHA-256 alone, in a private file of the user
// (0600). Which policy holds is a path that is read when the token is first used by a gateway. The
// file is read for every request, so a token that was revoked or is over opens nothing from then
// on; what it had opened before ends with TokenWatch.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "core/json.h"
#include "project/project.h"

namespace mcpac::gateway {

struct Token {
  std::string name;    // 1 to 64 of [A-Za-z0-9_-]
  std::string digest;  // SHA-256 of the token, 64 hexadecimal digits
  std::filesystem::path policy;
  std::string created;            // RFC 3339
  std::int64_t expires_unix = 0;  // seconds since 1970; 0: never
};
// Without the digest: enough of it to tell two tokens of one name apart.
[[nodiscard]] Json to_json(const Token& token);

class TokenStore {
 public:
  // `clock` is borrowed.
  TokenStore(std::filesystem::path file, const Clock& clock)
      : file_(std::move(file)), clock_(clock) {}

  // The token's text, which cannot be read again. kUsage for a name that is taken or none.
  [[nodiscard]] Result<std::string> create(
      const std::string& name, const std::filesystem::path& policy,
      std::optional<std::chrono::system_clock::time_point> expires) const;
  // kFileUnreadable: not for now, by no fault of the file (no descriptor is left).
  [[nodiscard]] Result<std::vector<Token>> list() const;
  // kUsage where there is none of this name.
  [[nodiscard]] Result<void> revoke(const std::string& name) const;
  // Nothing: it is unknown, or it is over.
  [[nodiscard]] Result<std::optional<Token>> find(std::string_view text) const;
  // Its time has come.
  [[nodiscard]] bool is_over(const Token& token) const;

 private:
  [[nodiscard]] Result<void> write(const std::vector<Token>& tokens) const;

  std::filesystem::path file_;
  const Clock& clock_;
};

// Where the user's are.
[[nodiscard]] std::filesystem::path token_file(const project::Folders& folders);

// A fresh token: "mcpac_" and 43 characters.
[[nodiscard]] std::string new_token();
// In a time that says nothing of where two texts differ; how long they are is no secret.
[[nodiscard]] bool is_same_secret(std::string_view one, std::string_view other);

}  // namespace mcpac::gateway
