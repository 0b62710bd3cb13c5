// SPDX-License-Identifier: Apache-2.0

#include "resident/nonce.h"

#include <fmt/format.h>
#include <sodium.h>

#include <array>

namespace mcpac::resident {

std::string new_nonce() {
  std::string text;
  std::array<unsigned char, 16> bytes{};
  ::randombytes_buf(bytes.data(), bytes.size());
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace mcpac::resident
