// SPDX-License-Identifier: Apache-2.0

#include "mcp/oauth/pkce.h"

#include <sodium.h>

#include "core/hash.h"

namespace mcpac::mcp::oauth {
namespace {

std::string encode(std::string_view bytes, int variant) {
  std::string out(sodium_base64_encoded_len(bytes.size(), variant), '\0');
  sodium_bin2base64(out.data(), out.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                    bytes.size(), variant);
  out.pop_back();  // the terminating NUL
  return out;
}

}  // namespace

std::string base64url(std::string_view bytes) {
  return encode(bytes, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

std::string base64(std::string_view bytes) {
  return encode(bytes, sodium_base64_VARIANT_ORIGINAL);
}

std::string random_word() {
  std::string bytes(32, '\0');
  randombytes_buf(bytes.data(), bytes.size());
  return base64url(bytes);
}

std::string code_challenge(std::string_view verifier) {
  const Sha256 digest = sha256(verifier);
  return base64url(std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

}  // namespace mcpac::mcp::oauth
