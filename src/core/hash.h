// SPDX-License-Identifier: Apache-2.0

// SHA-256 (FIPS 180-4, libsodium): the digest of definitions, headers, sources and cache keys.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace mcpac {

using Sha256 = std::array<std::uint8_t, 32>;

[[nodiscard]] Sha256 sha256(std::string_view bytes);
// 64 lower-case hexadecimal digits.
[[nodiscard]] std::string to_hex(const Sha256& digest);
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace mcpac
