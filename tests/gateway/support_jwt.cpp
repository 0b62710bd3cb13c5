#include "gateway/support_jwt.h"

#include <doctest/doctest.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/rsa.h>
#include <sodium.h>

#include <vector>

namespace mcpac::gateway::testing {
namespace {

std::string number(const EVP_PKEY* key, const char* name) {
  BIGNUM* value = nullptr;
  REQUIRE(EVP_PKEY_get_bn_param(key, name, &value) == 1);
  std::string bytes(static_cast<std::size_t>(BN_num_bytes(value)), '\0');
  BN_bn2bin(value, reinterpret_cast<unsigned char*>(bytes.data()));
  BN_free(value);
  return bytes;
}

std::string padded(std::string bytes) {
  return std::string(32 - bytes.size(), '\0') + bytes;
}

}  // namespace

std::int64_t now_in(std::chrono::seconds from_now) {
  const auto at = std::chrono::system_clock::now() + from_now;
  return std::chrono::duration_cast<std::chrono::seconds>(at.time_since_epoch()).count();
}

Json claims_of(const std::string& scope) {
  return {{"iss", kIssuer},        {"aud", kAudience},
          {"sub", "alice"},        {"exp", now_in(std::chrono::minutes(5))},
          {"client_id", "editor"}, {"scope", scope}};
}

std::string base64url(std::string_view bytes) {
  constexpr int kVariant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
  std::vector<char> text(sodium_base64_encoded_len(bytes.size(), kVariant));
  sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                    bytes.size(), kVariant);
  return text.data();
}

TestKey::TestKey(std::string algorithm, std::string id)
    : algorithm_(std::move(algorithm)), id_(std::move(id)) {
  EVP_PKEY* made = nullptr;
  if (algorithm_ == "ES256") made = EVP_EC_gen("P-256");
  if (algorithm_ == "EdDSA") made = EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  if (algorithm_ == "RS256" || algorithm_ == "PS256")
    made = EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{2'048});
  REQUIRE(made != nullptr);
  key_ = {made, EVP_PKEY_free};
}

Json TestKey::jwk() const {
  Json out{{"kid", id_}, {"use", "sig"}, {"alg", algorithm_}};
  if (algorithm_ == "ES256") {
    out["kty"] = "EC";
    out["crv"] = "P-256";
    out["x"] = base64url(padded(number(key_.get(), OSSL_PKEY_PARAM_EC_PUB_X)));
    out["y"] = base64url(padded(number(key_.get(), OSSL_PKEY_PARAM_EC_PUB_Y)));
  } else if (algorithm_ == "EdDSA") {
    std::string bytes(32, '\0');
    std::size_t size = bytes.size();
    REQUIRE(EVP_PKEY_get_raw_public_key(key_.get(), reinterpret_cast<unsigned char*>(bytes.data()),
                                        &size) == 1);
    out["kty"] = "OKP";
    out["crv"] = "Ed25519";
    out["x"] = base64url(bytes);
  } else {
    out["kty"] = "RSA";
    out["n"] = base64url(number(key_.get(), OSSL_PKEY_PARAM_RSA_N));
    out["e"] = base64url(number(key_.get(), OSSL_PKEY_PARAM_RSA_E));
  }
  return out;
}

std::string TestKey::signature_of(std::string_view text) const {
  const std::shared_ptr<EVP_MD_CTX> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  EVP_PKEY_CTX* details = nullptr;
  const EVP_MD* hash = algorithm_ == "EdDSA" ? nullptr : EVP_sha256();
  REQUIRE(EVP_DigestSignInit(context.get(), &details, hash, nullptr, key_.get()) == 1);
  if (algorithm_ == "PS256") {
    REQUIRE(EVP_PKEY_CTX_set_rsa_padding(details, RSA_PKCS1_PSS_PADDING) == 1);
    REQUIRE(EVP_PKEY_CTX_set_rsa_pss_saltlen(details, RSA_PSS_SALTLEN_DIGEST) == 1);
  }
  const auto* from = reinterpret_cast<const unsigned char*>(text.data());
  std::string out(1'024, '\0');
  std::size_t size = out.size();
  REQUIRE(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size, from,
                         text.size()) == 1);
  out.resize(size);
  if (algorithm_ != "ES256") return out;
  const auto* at = reinterpret_cast<const unsigned char*>(out.data());
  ECDSA_SIG* numbers = d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(out.size()));
  REQUIRE(numbers != nullptr);
  std::string plain(64, '\0');
  auto* to = reinterpret_cast<unsigned char*>(plain.data());
  REQUIRE(BN_bn2binpad(ECDSA_SIG_get0_r(numbers), to, 32) == 32);
  REQUIRE(BN_bn2binpad(ECDSA_SIG_get0_s(numbers), to + 32, 32) == 32);
  ECDSA_SIG_free(numbers);
  return plain;
}

std::string TestKey::sign(const Json& claims, const Json& header) const {
  Json whole{{"alg", algorithm_}, {"kid", id_}, {"typ", "at+jwt"}};
  for (const auto& [name, value] : header.items()) {
    if (value.is_null())
      whole.erase(name);
    else
      whole[name] = value;
  }
  const std::string text = base64url(whole.dump()) + "." + base64url(claims.dump());
  return text + "." + base64url(signature_of(text));
}

}  // namespace mcpac::gateway::testing
