// Clock: the two times of a run, behind an interface so that tests can turn it.
//
// `steady` never goes back and measures durations (`for 15m`, timeouts); `wall` is the time of day
// (`until`, audit records). Implementations are safe from several threads.
#pragma once

#include <chrono>

namespace mcpac {

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual std::chrono::steady_clock::time_point steady_now() const = 0;
  [[nodiscard]] virtual std::chrono::system_clock::time_point wall_now() const = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] std::chrono::steady_clock::time_point steady_now() const override {
    return std::chrono::steady_clock::now();
  }
  [[nodiscard]] std::chrono::system_clock::time_point wall_now() const override {
    return std::chrono::system_clock::now();
  }
};

}  // namespace mcpac
