// BackOff: how often a server that keeps ending is started again, and how often one that keeps
// forgetting its session is given another.
#pragma once

#include <algorithm>
#include <chrono>

namespace mcpac::execute {

// When a server that ended may be started the next time: at once, then after a second, and after
// twice as long each time, a minute at most. One that stayed for five minutes begins anew.
class BackOff {
 public:
  using Time = std::chrono::steady_clock::time_point;
  [[nodiscard]] bool may_start(Time now) const { return now >= next_; }
  [[nodiscard]] std::chrono::milliseconds wait(Time now) const {
    return std::chrono::ceil<std::chrono::milliseconds>(std::max(next_ - now, Time::duration(0)));
  }
  void started(Time now) {
    constexpr std::chrono::seconds kFirst{1};
    constexpr std::chrono::seconds kLongest{60};
    constexpr std::chrono::minutes kCalm{5};
    const bool is_calm = now - last_ >= kCalm;
    last_ = now;
    pause_ = is_calm ? kFirst : std::min(2 * pause_, kLongest);
    next_ = now + pause_;
  }

 private:
  Time last_{};
  Time next_{};
  std::chrono::seconds pause_{1};
};

}  // namespace mcpac::execute
