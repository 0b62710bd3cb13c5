// SPDX-License-Identifier: Apache-2.0

// RestartBackoff: backoff of restarts for a server that keeps ending, and of new sessions for one
// that keeps forgetting its session.
#pragma once

#include <algorithm>
#include <chrono>

#include "core/backoff.h"

namespace mcpac::servers {

// When a server that ended may be started the next time: at once, then after a second, and after
// twice as long each time, a minute at most. One that stayed for five minutes begins anew.
class RestartBackoff {
 public:
  using Time = std::chrono::steady_clock::time_point;
  [[nodiscard]] bool may_start(Time now) const { return now >= next_; }
  [[nodiscard]] std::chrono::milliseconds wait(Time now) const {
    return std::chrono::ceil<std::chrono::milliseconds>(std::max(next_ - now, Time::duration(0)));
  }
  void started(Time now) {
    constexpr std::chrono::minutes kCalm{5};
    if (now - last_ >= kCalm) backoff_.reset();
    last_ = now;
    next_ = now + backoff_.next();
  }

 private:
  Time last_{};
  Time next_{};
  ExponentialBackoff backoff_{std::chrono::seconds(1), std::chrono::seconds(60)};
};

}  // namespace mcpac::servers
