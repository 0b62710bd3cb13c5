// SPDX-License-Identifier: Apache-2.0

// RunId and EventId: names that sort by time and cannot be guessed.
//
// Both are UUID version 7 (RFC 9562, section 5.7): 48 bits of milliseconds, 74 random bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/clock.h"

namespace mcpac {

[[nodiscard]] std::string new_uuid_v7(const Clock& clock);

// Ids in strictly rising order, also within one millisecond and when the wall clock is set back
// (RFC 9562, section 6.2, method 2: the random bits are a counter that starts at random).
// Belongs to one thread.
class UuidV7Sequence {
 public:
  UuidV7Sequence() = default;
  // A copy would give the same ids.
  UuidV7Sequence(const UuidV7Sequence&) = delete;
  UuidV7Sequence& operator=(const UuidV7Sequence&) = delete;

  [[nodiscard]] std::string next(const Clock& clock);

 private:
  [[nodiscard]] std::array<std::uint8_t, 16> random_bits();
  // Asked for beforehand: else each millisecond with an id has a system call more.
  std::array<std::array<std::uint8_t, 16>, 32> ready_{};
  std::size_t used_ = ready_.size();
  std::array<std::uint8_t, 16> last_{};
  std::optional<std::uint64_t> last_millis_;
};

}  // namespace mcpac
