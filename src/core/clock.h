// SPDX-License-Identifier: Apache-2.0

// Clock: the two times of a run, behind an interface so that tests can turn it.
//
// `steady` never goes back and measures durations (`for 15m`, how long keys are trusted), the sleep
// of the machine included: what was granted for 15 minutes does not outlive a night in a closed
// laptop. `wall` is the time of day (`until`, audit records). Implementations are safe from several
// threads.
#pragma once

#include <chrono>
#include <ctime>

namespace mcpac {

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual std::chrono::steady_clock::time_point steady_now() const = 0;
  [[nodiscard]] virtual std::chrono::system_clock::time_point wall_now() const = 0;
};

class SystemClock final : public Clock {
 public:
  // Of the clock that counts suspension (CLOCK_BOOTTIME), while std::chrono's stands still in it:
  // its points are compared with one another, and never given to a timer or held against that
  // one's.
  [[nodiscard]] std::chrono::steady_clock::time_point steady_now() const override {
    std::timespec now{};
    if (::clock_gettime(CLOCK_BOOTTIME, &now) != 0) return std::chrono::steady_clock::now();
    return std::chrono::steady_clock::time_point(std::chrono::seconds(now.tv_sec) +
                                                 std::chrono::nanoseconds(now.tv_nsec));
  }
  [[nodiscard]] std::chrono::system_clock::time_point wall_now() const override {
    return std::chrono::system_clock::now();
  }
};

}  // namespace mcpac
