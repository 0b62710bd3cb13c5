// SPDX-License-Identifier: Apache-2.0

#include "gateway/tokens.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <array>

#include "core/file.h"
#include "core/hash.h"
#include "core/permission.h"
#include "core/printable.h"
#include "core/private_file.h"
#include "core/rfc3339.h"

namespace mcpac::gateway {
namespace {

constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kMaxBytes = std::size_t{4} << 20U;
constexpr std::size_t kDigestShown = 8;

std::int64_t unix_seconds(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

std::unexpected<Error> damaged(const std::filesystem::path& file, std::string why) {
  return fail(ErrorId::kConfigInvalid, "the tokens of mcpac serve cannot be read",
              {.where = file.string(),
               .why = std::move(why),
               .fix = "remove the file: then no token opens anything"});
}

std::unexpected<Error> out_of_reach(const std::filesystem::path& file, std::string why) {
  return fail(ErrorId::kFileUnreadable, "the tokens of mcpac serve cannot be read for now",
              {.where = file.string(),
               .why = std::move(why),
               .fix = "look at what the machine lacks: descriptors (ulimit -n), memory, a disk"});
}

std::optional<Token> token_from(const Json& json) {
  Token token{.name = string_member(json, "name"),
              .digest = string_member(json, "sha256"),
              .policy = string_member(json, "policy"),
              .created = string_member(json, "created")};
  const Json* expires = find_member(json, "expires");
  if (expires == nullptr || !expires->is_number_integer()) return std::nullopt;
  token.expires_unix = expires->get<std::int64_t>();
  const bool is_whole =
      is_server_name(token.name) && token.digest.size() == 64 && token.policy.is_absolute();
  return is_whole ? std::optional(std::move(token)) : std::nullopt;
}

}  // namespace

std::filesystem::path token_file(const project::Folders& folders) {
  return folders.tokens();
}

std::string new_token() {
  std::array<unsigned char, kSecretBytes> secret{};
  randombytes_buf(secret.data(), secret.size());
  std::array<char, 64> text{};
  sodium_bin2base64(text.data(), text.size(), secret.data(), secret.size(),
                    sodium_base64_VARIANT_URLSAFE_NO_PADDING);
  return std::string("mcpac_") + text.data();
}

bool is_same_secret(std::string_view one, std::string_view other) {
  return one.size() == other.size() && sodium_memcmp(one.data(), other.data(), one.size()) == 0;
}

Json to_json(const Token& token) {
  Json json{{"name", token.name},
            {"sha256", token.digest.substr(0, kDigestShown)},
            {"policy", token.policy.string()},
            {"created", token.created}};
  if (token.expires_unix != 0) {
    json["expires"] = rfc3339_utc(
        std::chrono::system_clock::time_point(std::chrono::seconds(token.expires_unix)));
  }
  return json;
}

Result<std::vector<Token>> TokenStore::list() const {
  bool is_passing = false;
  auto text = read_private_file(file_, kMaxBytes, &is_passing);
  if (!text && is_passing) return out_of_reach(file_, text.error().what);
  if (!text) return damaged(file_, text.error().what);
  if (!*text) return std::vector<Token>{};
  auto json = parse_json(**text, file_.string());
  if (!json) return damaged(file_, json.error().what);
  const Json* entries = find_member(*json, "tokens");
  if (entries == nullptr || !entries->is_array()) return damaged(file_, "it has no list of tokens");
  std::vector<Token> tokens;
  for (const Json& entry : *entries) {
    auto token = token_from(entry);
    if (!token) return damaged(file_, "an entry is not whole");
    tokens.push_back(std::move(*token));
  }
  return tokens;
}

Result<void> TokenStore::write(const std::vector<Token>& tokens) const {
  Json entries = Json::array();
  for (const Token& token : tokens) {
    entries.push_back({{"name", token.name},
                       {"sha256", token.digest},
                       {"policy", token.policy.string()},
                       {"created", token.created},
                       {"expires", token.expires_unix}});
  }
  return write_file_atomic(file_, Json{{"tokens", std::move(entries)}}.dump(1) + "\n", 0600);
}

Result<std::string> TokenStore::create(
    const std::string& name, const std::filesystem::path& policy,
    std::optional<std::chrono::system_clock::time_point> expires) const {
  if (!is_server_name(name)) {
    return fail(ErrorId::kUsage, fmt::format("a token cannot be called '{}'", printable(name, 80)),
                {.why = "a name is 1 to 64 letters, digits, '_' and '-'"});
  }
  auto turn = take_turn(file_.parent_path(), "tokens");
  if (!turn) return pass_on(turn);
  auto tokens = list();
  if (!tokens) return pass_on(tokens);
  if (std::ranges::find(*tokens, name, &Token::name) != tokens->end()) {
    return fail(ErrorId::kUsage, fmt::format("there is a token {} already", name),
                {.fix = fmt::format("mcpac token revoke {}", name)});
  }
  std::string text = new_token();
  tokens->push_back({.name = name,
                     .digest = sha256_hex(text),
                     .policy = policy,
                     .created = rfc3339_utc(clock_.wall_now()),
                     .expires_unix = expires ? unix_seconds(*expires) : 0});
  if (auto written = write(*tokens); !written) return pass_on(written);
  return text;
}

Result<void> TokenStore::revoke(const std::string& name) const {
  auto turn = take_turn(file_.parent_path(), "tokens");
  if (!turn) return pass_on(turn);
  auto tokens = list();
  if (!tokens) return pass_on(tokens);
  if (std::erase_if(*tokens, [&](const Token& token) { return token.name == name; }) == 0) {
    return fail(ErrorId::kUsage, fmt::format("there is no token {}", printable(name, 80)),
                {.fix = "mcpac token list"});
  }
  return write(*tokens);
}

Result<std::optional<Token>> TokenStore::find(std::string_view text) const {
  auto tokens = list();
  if (!tokens) return pass_on(tokens);
  const std::string digest = sha256_hex(text);
  const auto found = std::ranges::find(*tokens, digest, &Token::digest);
  if (found == tokens->end()) return std::nullopt;
  if (is_over(*found)) return std::nullopt;
  return *found;
}

bool TokenStore::is_over(const Token& token) const {
  return token.expires_unix != 0 && token.expires_unix <= unix_seconds(clock_.wall_now());
}

}  // namespace mcpac::gateway
