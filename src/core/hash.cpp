// SPDX-License-Identifier: Apache-2.0

#include "core/hash.h"

#include <sodium.h>

namespace mcpac {

Sha256 sha256(std::string_view bytes) {
  Sha256 digest{};
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(bytes.data()),
                     bytes.size());
  return digest;
}

std::string to_hex(const Sha256& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(digest.size() * 2);
  for (const std::uint8_t byte : digest) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  return to_hex(sha256(bytes));
}

}  // namespace mcpac
