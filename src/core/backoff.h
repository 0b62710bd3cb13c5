// SPDX-License-Identifier: Apache-2.0

// ExponentialBackoff: pauses between attempts, each twice as long as the one before, up to a
// longest.
//
// A value without clock, timer or jitter: its owner waits, and says when an attempt went well.
#pragma once

#include <algorithm>
#include <chrono>

namespace mcpac {

class ExponentialBackoff {
 public:
  using Pause = std::chrono::milliseconds;

  constexpr ExponentialBackoff(Pause first, Pause longest) : first_(first), longest_(longest) {}

  // The pause before the next attempt: the first one, then twice the last.
  constexpr Pause next() {
    last_ = last_ == Pause(0) ? first_ : std::min(2 * last_, longest_);
    return last_;
  }
  // The last result of next(); 0: nothing since the beginning, or the last reset().
  [[nodiscard]] constexpr Pause last() const { return last_; }
  constexpr void reset() { last_ = Pause(0); }

 private:
  Pause first_;
  Pause longest_;
  Pause last_{0};
};

}  // namespace mcpac
