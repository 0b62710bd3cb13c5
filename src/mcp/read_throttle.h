// SPDX-License-Identifier: Apache-2.0

// ReadThrottle: limit on the loop's time that one server, or one client of a door, takes by its
// input.
//
// A message within the limits can take more than a second to read, and the sender of one can send
// many, at once and unasked; all clients and all other servers wait meanwhile. So what takes long
// is added up, and where it comes to more than a third of the time, the server's next message
// waits until it does not. Short messages, as honest servers send them, count nothing
// (docs/adr/0049).
#pragma once

#include <algorithm>
#include <chrono>

namespace mcpac::mcp {

class ReadThrottle {
 public:
  using Clock = std::chrono::steady_clock;
  // What takes no longer counts nothing.
  static constexpr std::chrono::milliseconds kShort{50};

  // Its last message was read from `begun` to `ended`, with all that came of it.
  void took(Clock::time_point begun, Clock::time_point ended) {
    if (ended - begun <= kShort) return;
    paid_ = std::min(std::max(paid_, begun) + 3 * (ended - begun), ended + kLongest);
  }
  // How long its next message waits.
  [[nodiscard]] Clock::duration rest(Clock::time_point now) const {
    return paid_ - now > kAtOnce ? paid_ - now : Clock::duration::zero();
  }

 private:
  // A long one now and then does no harm.
  static constexpr std::chrono::milliseconds kAtOnce{300};
  // A rest; we may have been stopped in the middle of a message.
  static constexpr std::chrono::seconds kLongest{10};
  Clock::time_point paid_{};  // when what was read is a third of the time
};

}  // namespace mcpac::mcp
