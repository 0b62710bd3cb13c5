// SPDX-License-Identifier: Apache-2.0

#include "core/ids.h"

#include <sodium.h>

#include <string_view>
#include <utility>

namespace mcpac {
namespace {

using Bytes = std::array<std::uint8_t, 16>;

std::uint64_t millis_of(const Clock& clock) {
  const auto since_epoch = clock.wall_now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count());
}

// The random bytes become those of an id.
Bytes with_time(Bytes bytes, std::uint64_t millis) {
  for (unsigned i = 0; i < 6; ++i) bytes[i] = static_cast<std::uint8_t>(millis >> (40U - 8U * i));
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0fU) | 0x70U);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3fU) | 0x80U);
  return bytes;
}

// Adds one to the 74 random bits and, where they overflow, to the milliseconds.
void increment(Bytes& bytes) {
  for (std::size_t i = bytes.size(); i-- > 0;) {
    std::uint8_t fixed = 0;  // the bits of this byte that say version and variant
    if (i == 6) fixed = 0xf0;
    if (i == 8) fixed = 0xc0;
    const auto free = static_cast<std::uint8_t>(~fixed);
    const auto value = static_cast<std::uint8_t>((bytes[i] & free) + 1U);
    bytes[i] = static_cast<std::uint8_t>((bytes[i] & fixed) | (value & free));
    if ((value & free) != 0) return;
  }
}

std::string text_of(const Bytes& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(36, '-');
  char* at = text.data();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) ++at;
    *at++ = kDigits[bytes[i] >> 4U];
    *at++ = kDigits[bytes[i] & 15U];
  }
  return text;
}

}  // namespace

std::string new_uuid_v7(const Clock& clock) {
  Bytes bytes{};
  randombytes_buf(bytes.data(), bytes.size());
  return text_of(with_time(bytes, millis_of(clock)));
}

Bytes UuidV7Sequence::random_bits() {
  if (used_ == ready_.size()) {
    randombytes_buf(ready_.data(), sizeof ready_);
    used_ = 0;
  }
  return std::exchange(ready_.at(used_++), Bytes{});
}

// Within a millisecond the next id is the last one and one (RFC 9562, section 6.2).
std::string UuidV7Sequence::next(const Clock& clock) {
  const auto millis = millis_of(clock);
  if (last_millis_ && millis <= *last_millis_) {
    increment(last_);
    return text_of(last_);
  }
  last_millis_ = millis;
  Bytes bytes = with_time(random_bits(), millis);
  if (bytes <= last_) {
    bytes = last_;
    increment(bytes);
  }
  last_ = bytes;
  return text_of(last_);
}

}  // namespace mcpac
