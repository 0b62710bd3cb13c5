#include "gateway/oauth/access_token.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/ascii.h"

namespace mcpac::gateway::oauth {
namespace {

constexpr std::size_t kMaxToken = 12'000;  // a head of a request has room for this
constexpr std::size_t kMaxName = 256;
constexpr std::size_t kMaxScopes = 100;
constexpr std::size_t kMaxKeyId = 256;

std::unexpected<std::string> refuse(const char* why) {
  return std::unexpected<std::string>(why);
}

std::optional<Json> object_in(std::string_view part) {
  const auto bytes = from_base64url(part);
  if (!bytes) return std::nullopt;
  const JsonLimits limits{.max_bytes = kMaxToken, .max_depth = 16, .max_values = 1'000};
  auto json = parse_json(*bytes, "token", limits);
  if (!json || !json->is_object()) return std::nullopt;
  return std::move(*json);
}

// An access token, as RFC 9068 types it or as issuers did before; never a token of another kind.
bool is_typed_right(const Json& header) {
  if (!header.contains("typ")) return true;
  std::string type = lowered(string_member(header, "typ"));
  constexpr std::string_view kPrefix = "application/";
  if (type.starts_with(kPrefix)) type.erase(0, kPrefix.size());
  return type == "at+jwt" || type == "jwt";
}

// Seconds since 1970; nothing: it is no number that is a time.
std::optional<double> time_in(const Json& claims, std::string_view name) {
  const Json* value = find_member(claims, name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const double seconds = value->get<double>();
  return std::isfinite(seconds) ? std::optional(seconds) : std::nullopt;
}

bool is_for(const Json& claims, const std::string& audience) {
  const Json* aud = find_member(claims, "aud");
  if (aud == nullptr) return false;
  if (aud->is_array()) return std::ranges::find(*aud, Json(audience)) != aud->end();
  return *aud == Json(audience);
}

void add_words(std::string_view text, std::set<std::string>& into) {
  while (!text.empty() && into.size() < kMaxScopes) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (!word.empty()) into.emplace(word);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
}

// "scope" is words in a text (RFC 8693); some issuers have "scp", a text or a list.
std::set<std::string> scopes_in(const Json& claims) {
  std::set<std::string> scopes;
  for (const char* name : {"scope", "scp"}) {
    const Json* value = find_member(claims, name);
    if (value == nullptr) continue;
    if (value->is_string()) add_words(value->get_ref<const std::string&>(), scopes);
    if (!value->is_array()) continue;
    for (const Json& one : *value) {
      if (one.is_string() && scopes.size() < kMaxScopes) scopes.insert(one.get<std::string>());
    }
  }
  return scopes;
}

std::expected<void, std::string> check_times(const Json& claims, const Expected& expected,
                                             std::chrono::system_clock::time_point now) {
  const double leeway = static_cast<double>(expected.leeway.count());
  const double at = std::chrono::duration<double>(now.time_since_epoch()).count();
  const auto expires = time_in(claims, "exp");
  if (!expires) return refuse("the token does not say when it ends");
  if (at >= *expires + leeway) return refuse("the token is over");
  for (const char* name : {"nbf", "iat"}) {
    if (!claims.contains(name)) continue;
    const auto begins = time_in(claims, name);
    if (!begins || at + leeway < *begins) return refuse("the token is not yet in force");
  }
  return {};
}

// Of a token whose times were checked. One that ends beyond what a clock can say ends then.
std::chrono::system_clock::time_point end_of(const Json& claims, const Expected& expected) {
  using Time = std::chrono::system_clock::time_point;
  constexpr double kLast =
      std::chrono::duration<double>(Time::max().time_since_epoch()).count() / 2;
  const double seconds =
      time_in(claims, "exp").value_or(0) + static_cast<double>(expected.leeway.count());
  return Time(std::chrono::duration_cast<Time::duration>(
      std::chrono::duration<double>(std::clamp(seconds, 0.0, kLast))));
}

}  // namespace

std::expected<Claimed, std::string> parse_token(std::string_view text) {
  if (text.size() > kMaxToken) return refuse("the token is too long");
  const auto first = text.find('.');
  const auto second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos || text.find('.', second + 1) != std::string_view::npos)
    return refuse("this is no signed token");
  const auto header = object_in(text.substr(0, first));
  auto claims = object_in(text.substr(first + 1, second - first - 1));
  auto signature = from_base64url(text.substr(second + 1));
  if (!header || !claims || !signature || signature->empty())
    return refuse("the token cannot be read");
  const auto algorithm = algorithm_from(string_member(*header, "alg"));
  if (!algorithm) return refuse("the token's algorithm is not taken");
  if (header->contains("crit")) return refuse("the token wants something that is not known here");
  if (!is_typed_right(*header)) return refuse("this is a token of another kind");
  Claimed token{.algorithm = *algorithm,
                .key_id = string_member(*header, "kid"),
                .signed_text = std::string(text.substr(0, second)),
                .signature = std::move(*signature),
                .claims = std::move(*claims)};
  if (token.key_id.size() > kMaxKeyId) return refuse("the name of the token's key is too long");
  return token;
}

std::expected<Bearer, std::string> check_claims(const Claimed& token, const Expected& expected,
                                                std::chrono::system_clock::time_point now) {
  const Json& claims = token.claims;
  if (string_member(claims, "iss") != expected.issuer)
    return refuse("the token is of another issuer");
  if (!is_for(claims, expected.audience)) return refuse("the token is for another resource");
  if (auto in_time = check_times(claims, expected, now); !in_time)
    return std::unexpected(in_time.error());
  if (claims.contains("cnf")) return refuse("the token is bound to a key, which is not asked for");
  Bearer bearer{.subject = string_member(claims, "sub"),
                .client = string_member(claims, claims.contains("client_id") ? "client_id" : "azp"),
                .scopes = scopes_in(claims),
                .until = end_of(claims, expected)};
  if (bearer.subject.empty() || bearer.subject.size() > kMaxName || bearer.client.size() > kMaxName)
    return refuse("the token does not say whose it is");
  return bearer;
}

}  // namespace mcpac::gateway::oauth
