// ListPatience: time limit of clients for one list of one server, and the times of its background
// reads.
//
// The first time that is long: servers are slow when they begin. A server that was not in time, or
// gave no list, is followed by a pause in which no client waits, longer each time; afterwards it is
// waited for shortly, until it answers in time. One that is slow makes no client wait for more than
// a tenth of the time, however often it says that its list changed. What is read in the background
// is read with a rest between, whatever the server announces. And what a list costs mcpac's loop,
// to read it and to work out what each client is shown of it, is followed by nine times as long a
// rest, also where a client waits: it does so shortly, and for longer it has what there was. A pure
// value.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "core/backoff.h"

namespace mcpac::gateway {

class ListPatience {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Span = std::chrono::steady_clock::duration;
  struct Spans {
    std::chrono::milliseconds first = std::chrono::seconds(30);
    std::chrono::milliseconds later = std::chrono::seconds(5);
    std::chrono::milliseconds pause = std::chrono::seconds(30);  // the first; then twice as long
    std::chrono::milliseconds longest_pause = std::chrono::minutes(10);
    // Between two readings in the background.
    std::chrono::milliseconds rest = std::chrono::seconds(5);
  };
  enum class Has : std::uint8_t { kNothing, kList };  // to show meanwhile

  explicit ListPatience(const Spans& spans)
      : spans_(spans), backoff_(spans.pause, spans.longest_pause) {}

  [[nodiscard]] bool may_wait(Time now) const { return now >= pause_until_; }
  [[nodiscard]] std::chrono::milliseconds span(Has has) const {
    return is_trusted_ && has == Has::kNothing ? spans_.first : spans_.later;
  }
  // It ended well the last time, or is new.
  [[nodiscard]] bool is_trusted() const { return is_trusted_; }
  // From when on it may be read for waiting clients.
  [[nodiscard]] Time next_waited_for() const { return spare_until_; }
  // From when on it may be read in the background: as soon as there is a reason; without one.
  [[nodiscard]] Time next_with_reason() const { return rest_until_; }
  [[nodiscard]] Time next_without() const { return std::max(rest_until_, pause_until_); }

  // Whether that is news.
  [[nodiscard]] bool lose() { return std::exchange(is_trusted_, false); }
  // The request has ended without a list, or late.
  void failed(Time now) {
    is_trusted_ = false;
    ended_ = now;
    worked_ = {};
    rest_until_ = now + spans_.rest;
    pause_until_ = now + backoff_.next();
  }
  void answered_in_time(Time now, Span took) {
    *this = ListPatience(spans_);
    ended_ = now;
    rest_until_ = now + spans_.rest;
    if (took > kSlow) pause_until_ = now + kRestFor * took;
  }
  // So much of the loop's time went into what was read last, once more.
  void worked(Span span) {
    worked_ += span;
    const Span rest = std::min<Span>(kRestFor * worked_, spans_.longest_pause);
    if (rest < kNothing) return;
    spare_until_ = ended_ + rest;
    rest_until_ = std::max(rest_until_, spare_until_);
    if (rest > kSlow) pause_until_ = std::max(pause_until_, spare_until_);
  }
  // The server was started again: it may be another, though it is not waited for as if it were new.
  // A rest for what the last one cost stays: else who asks would wait for its end.
  void began_anew() { pause_until_ = kRestFor * worked_ > kSlow ? spare_until_ : Time{}; }

 private:
  static constexpr std::chrono::seconds kSlow{1};
  static constexpr int kRestFor = 9;
  // What no timer is set for.
  static constexpr std::chrono::milliseconds kNothing{10};

  Spans spans_;
  ExponentialBackoff backoff_;
  Time pause_until_{};
  Time rest_until_{};
  Time spare_until_{};  // the loop
  Time ended_{};        // of the last reading
  Span worked_{};       // since, and by it
  bool is_trusted_ = true;
};

}  // namespace mcpac::gateway
