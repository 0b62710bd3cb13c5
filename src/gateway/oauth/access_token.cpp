// SPDX-License-Identifier: Apache-2.0

#include "gateway/oauth/access_token.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "core/ascii.h"

namespace mcpac::gateway::oauth {
namespace {

constexpr int kMinRsaBits = 2'048;
constexpr int kMaxRsaBits = 8'192;    // more costs the verifier
constexpr std::size_t kMaxKeys = 32;  // a token that names none is held against each
constexpr std::size_t kMaxId = 256;
constexpr std::size_t kMaxNumber = 4'096;
constexpr std::size_t kCoordinate = 32;  // of P-256, and of Ed25519 the whole key
constexpr std::size_t kPlainSignature = 2 * kCoordinate;

template <class T, void (*kFree)(T*)>
struct Freed {
  void operator()(T* one) const { kFree(one); }
};
using Number = std::unique_ptr<BIGNUM, Freed<BIGNUM, BN_free>>;
using Builder = std::unique_ptr<OSSL_PARAM_BLD, Freed<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>>;
using Params = std::unique_ptr<OSSL_PARAM, Freed<OSSL_PARAM, OSSL_PARAM_free>>;
using Maker = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX, EVP_PKEY_CTX_free>>;
using Digest = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX, EVP_MD_CTX_free>>;
using Signature = std::unique_ptr<ECDSA_SIG, Freed<ECDSA_SIG, ECDSA_SIG_free>>;
using Key = std::shared_ptr<EVP_PKEY>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Number number_of(std::string_view bytes) {
  return Number(BN_bin2bn(bytes_of(bytes), static_cast<int>(bytes.size()), nullptr));
}

Key make_key(const char* kind, OSSL_PARAM_BLD* builder) {
  const Params params(OSSL_PARAM_BLD_to_param(builder));
  const Maker maker(EVP_PKEY_CTX_new_from_name(nullptr, kind, nullptr));
  EVP_PKEY* key = nullptr;
  const bool made = params && maker && EVP_PKEY_fromdata_init(maker.get()) == 1 &&
                    EVP_PKEY_fromdata(maker.get(), &key, EVP_PKEY_PUBLIC_KEY, params.get()) == 1;
  return made ? Key(key, EVP_PKEY_free) : nullptr;
}

std::optional<std::string> member(const Json& jwk, std::string_view name) {
  const std::string text = string_member(jwk, name);
  if (text.empty() || text.size() > kMaxNumber) return std::nullopt;
  return from_base64url(text);
}

Key rsa_key(const Json& jwk) {
  const auto n = member(jwk, "n");
  const auto e = member(jwk, "e");
  if (!n || !e || e->size() > sizeof(std::uint64_t)) return nullptr;
  const Number modulus = number_of(*n);
  const Number exponent = number_of(*e);
  const Builder builder(OSSL_PARAM_BLD_new());
  if (!modulus || !exponent || !builder || BN_is_odd(exponent.get()) != 1 ||
      BN_is_one(exponent.get()) == 1 || BN_is_odd(modulus.get()) != 1)
    return nullptr;
  const int bits = BN_num_bits(modulus.get());
  if (bits < kMinRsaBits || bits > kMaxRsaBits) return nullptr;
  const bool pushed =
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get()) == 1 &&
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get()) == 1;
  return pushed ? make_key("RSA", builder.get()) : nullptr;
}

// OpenSSL takes no point that is not on the curve.
Key p256_key(const Json& jwk) {
  const auto x = member(jwk, "x");
  const auto y = member(jwk, "y");
  if (string_member(jwk, "crv") != "P-256" || !x || !y || x->size() != kCoordinate ||
      y->size() != kCoordinate)
    return nullptr;
  const std::string point = "\x04" + *x + *y;
  const Builder builder(OSSL_PARAM_BLD_new());
  const bool pushed = builder &&
                      OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME,
                                                      "prime256v1", 0) == 1 &&
                      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY,
                                                       point.data(), point.size()) == 1;
  return pushed ? make_key("EC", builder.get()) : nullptr;
}

Key ed25519_key(const Json& jwk) {
  const auto x = member(jwk, "x");
  if (string_member(jwk, "crv") != "Ed25519" || !x || x->size() != kCoordinate) return nullptr;
  EVP_PKEY* key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(*x), x->size());
  return key == nullptr ? nullptr : Key(key, EVP_PKEY_free);
}

bool is_for_signatures(const Json& jwk) {
  const std::string use = string_member(jwk, "use");
  if (jwk.contains("use") && use != "sig") return false;
  const Json* operations = find_member(jwk, "key_ops");
  return operations == nullptr ||
         (operations->is_array() &&
          std::ranges::find(*operations, Json("verify")) != operations->end());
}

// JOSE has the two numbers of an ECDSA signature beside each other, OpenSSL wants them in ASN.1.
std::optional<std::string> in_asn1(std::string_view plain) {
  if (plain.size() != kPlainSignature) return std::nullopt;
  const Signature signature(ECDSA_SIG_new());
  Number r = number_of(plain.substr(0, kCoordinate));
  Number s = number_of(plain.substr(kCoordinate));
  if (!signature || !r || !s || ECDSA_SIG_set0(signature.get(), r.get(), s.get()) != 1)
    return std::nullopt;
  std::ignore = r.release();
  std::ignore = s.release();
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(signature.get(), &der);
  if (size <= 0) return std::nullopt;
  std::string out(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return out;
}

bool with_pss(EVP_PKEY_CTX* context) {
  return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
         EVP_PKEY_CTX_set_rsa_mgf1_md(context, EVP_sha256()) == 1 &&
         EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1;
}

}  // namespace

std::optional<Algorithm> algorithm_from(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Algorithm>, 4> kKnown = {
      {{"RS256", Algorithm::kRs256},
       {"PS256", Algorithm::kPs256},
       {"ES256", Algorithm::kEs256},
       {"EdDSA", Algorithm::kEdDsa}}};
  const auto* const found =
      std::ranges::find(kKnown, name, [](const auto& one) { return one.first; });
  return found == kKnown.end() ? std::nullopt : std::optional(found->second);
}

std::optional<PublicKey> read_key(const Json& jwk) {
  if (!jwk.is_object() || !is_for_signatures(jwk)) return std::nullopt;
  PublicKey out;
  out.id = string_member(jwk, "kid");
  if (out.id.size() > kMaxId) return std::nullopt;
  if (jwk.contains("alg")) {
    out.alone = algorithm_from(string_member(jwk, "alg"));
    if (!out.alone) return std::nullopt;
  }
  const std::string kind = string_member(jwk, "kty");
  if (kind == "RSA") out.key = rsa_key(jwk);
  if (kind == "EC") out.key = p256_key(jwk);
  if (kind == "OKP") out.key = ed25519_key(jwk);
  return out.key ? std::optional(std::move(out)) : std::nullopt;
}

std::vector<PublicKey> read_keys(const Json& set) {
  std::vector<PublicKey> keys;
  const Json* list = find_member(set, "keys");
  if (list == nullptr || !list->is_array()) return keys;
  for (const Json& jwk : *list) {
    if (keys.size() >= kMaxKeys) break;
    if (auto key = read_key(jwk)) keys.push_back(std::move(*key));
  }
  return keys;
}

bool fits(const PublicKey& key, Algorithm algorithm) {
  if (key.alone && *key.alone != algorithm) return false;
  const int kind = EVP_PKEY_get_base_id(key.key.get());
  switch (algorithm) {
    case Algorithm::kRs256:
    case Algorithm::kPs256: return kind == EVP_PKEY_RSA;
    case Algorithm::kEs256: return kind == EVP_PKEY_EC;
    case Algorithm::kEdDsa: return kind == EVP_PKEY_ED25519;
  }
  return false;
}

bool verifies(const PublicKey& key, Algorithm algorithm, std::string_view text,
              std::string_view signature) {
  if (!fits(key, algorithm)) return false;
  std::string given(signature);
  if (algorithm == Algorithm::kEs256) {
    auto asn1 = in_asn1(signature);
    if (!asn1) return false;
    given = std::move(*asn1);
  }
  const Digest context(EVP_MD_CTX_new());
  const EVP_MD* hash = algorithm == Algorithm::kEdDsa ? nullptr : EVP_sha256();
  EVP_PKEY_CTX* details = nullptr;  // the digest's
  if (!context ||
      EVP_DigestVerifyInit(context.get(), &details, hash, nullptr, key.key.get()) != 1 ||
      (algorithm == Algorithm::kPs256 && !with_pss(details)))
    return false;
  return EVP_DigestVerify(context.get(), bytes_of(given), given.size(), bytes_of(text),
                          text.size()) == 1;
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string bytes(text.size(), '\0');
  std::size_t size = 0;
  const char* end = nullptr;
  const int failed = sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(),
                                       text.data(), text.size(), nullptr, &size, &end,
                                       sodium_base64_VARIANT_URLSAFE_NO_PADDING);
  if (failed != 0 || end != text.data() + text.size()) return std::nullopt;
  bytes.resize(size);
  return bytes;
}

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
