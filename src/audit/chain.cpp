// SPDX-License-Identifier: Apache-2.0

#include "audit/chain.h"

#include <sodium.h>

namespace mcpac::audit {
namespace {

constexpr std::string_view kHashMark = R"(,"hash":")";
constexpr std::string_view kSignatureMark = R"(","signature":")";
constexpr std::string_view kEnd = R"("})";

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// Takes `size` bytes of hexadecimal and the mark before them from the end of the line.
bool take_from_end(std::string_view& line, std::string_view mark, std::uint8_t* bytes,
                   std::size_t size) {
  const std::size_t length = mark.size() + size * 2;
  if (line.size() <= length) return false;
  const std::string_view tail = line.substr(line.size() - length);
  if (!tail.starts_with(mark) || !read_hex(tail.substr(mark.size()), bytes, size)) return false;
  line.remove_suffix(length);
  return true;
}

}  // namespace

Digest blake2b(std::string_view bytes, const Digest* key) {
  // Until it is called, the library takes no instructions that not every processor has: half as
  // fast. Where it fails, digests are the same.
  static const int ready = sodium_init();
  static_cast<void>(ready);
  Digest digest{};
  crypto_generichash(digest.data(), digest.size(), bytes_of(bytes), bytes.size(),
                     key != nullptr ? key->data() : nullptr, key != nullptr ? key->size() : 0);
  return digest;
}

Digest chain_start(std::string_view chain, std::string_view name) {
  return blake2b(std::string("mcpac audit v1 ").append(chain).append(1, '\0').append(name));
}

Digest chain_next(const Digest& before, std::string_view body) {
  crypto_generichash_state state;
  Digest digest{};
  crypto_generichash_init(&state, nullptr, 0, digest.size());
  crypto_generichash_update(&state, before.data(), before.size());
  crypto_generichash_update(&state, bytes_of(body), body.size());
  crypto_generichash_final(&state, digest.data(), digest.size());
  return digest;
}

std::string closed_line(std::string body, const Digest& hash,
                        const std::optional<Signature>& signature) {
  body.append(kHashMark).append(hex(hash));
  if (signature) body.append(kSignatureMark).append(hex(signature->data(), signature->size()));
  return std::move(body.append(kEnd).append(1, '\n'));
}

std::optional<ChainLine> open_line(std::string_view line) {
  if (!line.ends_with(kEnd)) return std::nullopt;
  line.remove_suffix(kEnd.size());
  ChainLine read;
  Signature signature{};
  if (take_from_end(line, kSignatureMark, signature.data(), signature.size()))
    read.signature = signature;
  if (!take_from_end(line, kHashMark, read.hash.data(), read.hash.size())) return std::nullopt;
  read.body = line;
  return read;
}

std::string hex(const std::uint8_t* bytes, std::size_t size) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(size * 2, '\0');
  char* at = text.data();
  for (std::size_t i = 0; i < size; ++i) {
    *at++ = kDigits[bytes[i] >> 4U];
    *at++ = kDigits[bytes[i] & 15U];
  }
  return text;
}

bool read_hex(std::string_view text, std::uint8_t* bytes, std::size_t size) {
  if (text.size() != size * 2) return false;
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  for (std::size_t i = 0; i < size; ++i) {
    const int high = digit(text[2 * i]);
    const int low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return true;
}

}  // namespace mcpac::audit
