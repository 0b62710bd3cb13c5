// ReadingPace: how much of the loop's time one server may take by what it sends.
//
// A message within the limits can take more than a second to read, and whoever sends one can send
// many, at once and unasked; all clients and all other servers wait meanwhile. So after a message
// that took long nothing more of that server is read for twice that time, which is the others'.
// What honest servers send takes milliseconds, and never rests (docs/adr/0049).
#pragma once

#include <chrono>

namespace mcpac::mcp {

class ReadingPace {
 public:
  using Clock = std::chrono::steady_clock;

  // Its last message was read from `begun` to `ended`, with all that came of it.
  void took(Clock::time_point begun, Clock::time_point ended) {
    if (ended - begun > kLong) next_ = ended + 2 * (ended - begun);
  }
  // How long its next message waits.
  [[nodiscard]] Clock::duration rest(Clock::time_point now) const {
    return now < next_ ? next_ - now : Clock::duration::zero();
  }

 private:
  static constexpr std::chrono::milliseconds kLong{100};
  Clock::time_point next_{};
};

}  // namespace mcpac::mcp
