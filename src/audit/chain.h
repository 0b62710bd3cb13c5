// SPDX-License-Identifier: Apache-2.0

// The hash chain of audit files: binds each line to its place and to all lines before it.
//
// A line of the chain is  BODY,"hash":"64 hex"}  or  BODY,"hash":"64 hex","signature":"128 hex"}
// where BODY is the JSON object of the record without its closing brace, byte for byte. The hash is
// BLAKE2b-256 (RFC 7693) over the hash before and BODY; the first hash before is that of a domain
// and the file's name. A signature is Ed25519 (RFC 8032) over a domain and the line's hash, so one
// signed line speaks for itself and all lines above it. (ADR 0017)
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mcpac::audit {

using Digest = std::array<std::uint8_t, 32>;
using Signature = std::array<std::uint8_t, 64>;

// Chain value before the first line. `chain` is "run" or "runs", `name` the run's id or "".
[[nodiscard]] Digest chain_start(std::string_view chain, std::string_view name);
[[nodiscard]] Digest chain_next(const Digest& before, std::string_view body);

// BLAKE2b-256 of `bytes`, keyed where a key is given.
[[nodiscard]] Digest blake2b(std::string_view bytes, const Digest* key = nullptr);

// With the final newline. `body` is the record's JSON without its closing brace.
[[nodiscard]] std::string closed_line(std::string body, const Digest& hash,
                                      const std::optional<Signature>& signature = std::nullopt);
// Upper bound of the bytes that closed_line() adds.
inline constexpr std::size_t kClosingBytes = 256;

struct ChainLine {
  std::string_view body;  // into the text that was given
  Digest hash{};
  std::optional<Signature> signature;
};
// Nothing for a line that closed_line() did not write; `line` is without its newline.
[[nodiscard]] std::optional<ChainLine> open_line(std::string_view line);

[[nodiscard]] std::string hex(const std::uint8_t* bytes, std::size_t size);
[[nodiscard]] inline std::string hex(const Digest& digest) {
  return hex(digest.data(), digest.size());
}
// Lower case only, exactly `size` bytes: two spellings of one digest would be two lines.
[[nodiscard]] bool read_hex(std::string_view text, std::uint8_t* bytes, std::size_t size);

}  // namespace mcpac::audit
