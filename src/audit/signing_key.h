// SPDX-License-Identifier: Apache-2.0

// The key of the audit log: one Ed25519 key a user, made on first use.
//
// It lies in a folder of its own beside the log, so that the log can be copied to an auditor
// without handing out what signs it: FOLDER/secret (0600) holds the seed, FOLDER/public the public
// key, both as lower-case hexadecimal. No sandbox ever sees either.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "audit/chain.h"
#include "core/error.h"

namespace mcpac::audit {

using PublicKey = std::array<std::uint8_t, 32>;

class SigningKey {
 public:
  // Makes the key where there is none. kAuditKey for one that others can read, that is
  // damaged, or whose secret half is gone while the public one is there: a new key would turn every
  // signature so far into a forgery. Two processes that make it at once end with the same key.
  static Result<SigningKey> load(const std::filesystem::path& folder);
  ~SigningKey();
  SigningKey(const SigningKey&) = default;
  SigningKey& operator=(const SigningKey&) = default;

  // Over `domain`, a zero byte and the hash.
  [[nodiscard]] Signature sign(std::string_view domain, const Digest& hash) const;
  // For the digests of arguments of one run: a holder of the log alone cannot try out values.
  [[nodiscard]] Digest argument_key(std::string_view run_id) const;
  [[nodiscard]] const PublicKey& public_key() const { return public_; }

 private:
  explicit SigningKey(const Digest& seed);
  Digest seed_{};
  std::array<std::uint8_t, 64> secret_{};
  PublicKey public_{};
};

// The folder of the key of a log.
[[nodiscard]] std::filesystem::path key_folder(const std::filesystem::path& log_folder);

// Short name of a key: the first 16 digits of it.
[[nodiscard]] std::string key_name(const PublicKey& key);

// One key a line; empty lines and lines that begin with '#' are left out. kAuditKey otherwise.
[[nodiscard]] Result<std::vector<PublicKey>> read_public_keys(const std::filesystem::path& file);

[[nodiscard]] bool is_signed(const PublicKey& key, std::string_view domain, const Digest& hash,
                             const Signature& signature);

inline constexpr std::string_view kCheckpointDomain = "mcpac audit v1 checkpoint";
inline constexpr std::string_view kRunsDomain = "mcpac audit v1 runs";

}  // namespace mcpac::audit
