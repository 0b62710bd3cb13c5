// ListPatience: how long clients wait for one list of one server, and when they do so again.
//
// The first time that is long: servers are slow when they begin. A server that was not in time, or
// gave no list, is left alone for a while, longer each time, and is waited for shortly from then
// on, until it answers in time. A pure value.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

namespace mcpac::gateway {

class ListPatience {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Spans {
    std::chrono::milliseconds first = std::chrono::seconds(30);
    std::chrono::milliseconds later = std::chrono::seconds(5);
    std::chrono::milliseconds pause = std::chrono::seconds(30);  // the first; then twice as long
    std::chrono::milliseconds longest_pause = std::chrono::minutes(10);
  };
  explicit ListPatience(const Spans& spans) : spans_(spans), pause_(spans.pause) {}

  [[nodiscard]] bool may_ask(Time now) const { return now >= not_before_; }
  [[nodiscard]] std::chrono::milliseconds span() const {
    return is_trusted_ ? spans_.first : spans_.later;
  }
  // Whether that is news.
  [[nodiscard]] bool lose() { return std::exchange(is_trusted_, false); }
  // What was asked has ended without a list, or late.
  void rest(Time now) {
    not_before_ = now + pause_;
    pause_ = std::min(2 * pause_, spans_.longest_pause);
  }
  void answered_in_time() { *this = ListPatience(spans_); }
  // The server was started again: it is asked at once, though not waited for as if it were new.
  void began_anew() { not_before_ = {}; }

 private:
  Spans spans_;
  std::chrono::milliseconds pause_;
  Time not_before_{};
  bool is_trusted_ = true;
};

}  // namespace mcpac::gateway
