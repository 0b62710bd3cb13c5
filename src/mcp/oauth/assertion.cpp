// SPDX-License-Identifier: Apache-2.0

#include "mcp/oauth/assertion.h"

#include <fmt/format.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <chrono>
#include <memory>

#include "core/json.h"
#include "mcp/oauth/pkce.h"

namespace mcpac::mcp::oauth {
namespace {

constexpr std::int64_t kLifetimeSeconds = 60;
constexpr int kMinRsaBits = 2'048;
constexpr int kP256Bits = 256;

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Digest = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;
using Signature = std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)>;

std::unexpected<Error> refuse(std::string why) {
  return fail(ErrorId::kConfigInvalid, "the private key of the client cannot be used",
              {.where = "auth.privateKey", .why = std::move(why)});
}

// A key with a passphrase would make OpenSSL ask the terminal.
int no_passphrase(char* /*to*/, int /*size*/, int /*write*/, void* /*data*/) {
  return 0;
}

Result<std::string> algorithm_of(const EVP_PKEY* key) {
  const int kind = EVP_PKEY_get_base_id(key);
  if (kind == EVP_PKEY_ED25519) return "EdDSA";
  if (kind == EVP_PKEY_RSA && EVP_PKEY_get_bits(key) >= kMinRsaBits) return "RS256";
  if (kind == EVP_PKEY_EC && EVP_PKEY_get_bits(key) == kP256Bits) return "ES256";
  return refuse("it is neither P-256, nor RSA of 2048 bits or more, nor Ed25519");
}

// JOSE wants the two numbers of an ECDSA signature beside each other, not in ASN.1.
Result<std::string> plain_numbers(const std::string& der) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const Signature signature(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())),
                            ECDSA_SIG_free);
  std::string out(64, '\0');
  auto* to = reinterpret_cast<unsigned char*>(out.data());
  const bool fits = signature && BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), to, 32) == 32 &&
                    BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), to + 32, 32) == 32;
  if (!fits) return refuse("its signature cannot be written");
  return out;
}

Result<std::string> sign(EVP_PKEY* key, const std::string& algorithm, const std::string& text) {
  const Digest context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  const EVP_MD* hash = algorithm == "EdDSA" ? nullptr : EVP_sha256();
  const auto* from = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t size = 0;
  if (!context || EVP_DigestSignInit(context.get(), nullptr, hash, nullptr, key) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, from, text.size()) != 1) {
    return refuse("it does not sign");
  }
  std::string out(size, '\0');
  if (EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size, from,
                     text.size()) != 1) {
    return refuse("it does not sign");
  }
  out.resize(size);
  return algorithm == "ES256" ? plain_numbers(out) : Result<std::string>(std::move(out));
}

std::string claims(std::string_view client_id, std::string_view audience) {
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  const Json json = {{"iss", client_id}, {"sub", client_id},     {"aud", audience},
                     {"iat", now},       {"jti", random_word()}, {"exp", now + kLifetimeSeconds}};
  return to_text(json);
}

}  // namespace

Result<std::string> client_assertion(std::string_view private_key, std::string_view key_id,
                                     std::string_view client_id, std::string_view audience) {
  const Bio text(BIO_new_mem_buf(private_key.data(), static_cast<int>(private_key.size())),
                 BIO_free);
  const Key key(PEM_read_bio_PrivateKey(text.get(), nullptr, no_passphrase, nullptr),
                EVP_PKEY_free);
  if (!key) return refuse("it is no private key in PEM without a passphrase");
  auto algorithm = algorithm_of(key.get());
  if (!algorithm) return algorithm;
  Json header = {{"alg", *algorithm}, {"typ", "JWT"}};
  if (!key_id.empty()) header["kid"] = key_id;
  const std::string signed_text =
      base64url(to_text(header)) + "." + base64url(claims(client_id, audience));
  auto signature = sign(key.get(), *algorithm, signed_text);
  if (!signature) return signature;
  return signed_text + "." + base64url(*signature);
}

}  // namespace mcpac::mcp::oauth
