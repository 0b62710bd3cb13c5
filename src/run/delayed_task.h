// DelayedTask: does `work` once, a moment after this is made or when it ends: of what is not needed
// any more, while something else is waited for. On a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace mcpac::run {

class DelayedTask {
 public:
  explicit DelayedTask(std::function<void()> work)
      : thread_([this, work = std::move(work)](const std::stop_token& now) {
          std::unique_lock lock(mutex_);
          wake_.wait_for(lock, now, kMoment, [] { return false; });
          work();
        }) {}

 private:
  static constexpr auto kMoment = std::chrono::milliseconds(200);
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // the first to end
};

}  // namespace mcpac::run
