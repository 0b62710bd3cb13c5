// SPDX-License-Identifier: Apache-2.0

// CoarseTimer and AsyncEvent: deadlines that are mostly not reached.
//
// A time limit that begins anew with each read, write and request costs more than these, where a
// timer is set each time: the loop sorts it in, tells the kernel of a new first time, and wakes the
// waiter with an error. So a CoarseTimer stays where it was set while its time moves on, and looks
// again when it fires. On the executor's one thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

namespace mcpac::ipc {

class CoarseTimer {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `due` is called from the loop, and may destroy the timer.
  CoarseTimer(boost::asio::any_io_executor executor, std::function<void()> due);
  ~CoarseTimer();
  CoarseTimer(const CoarseTimer&) = delete;
  CoarseTimer& operator=(const CoarseTimer&) = delete;

  // `due` is called once, when this time has come; what was set before is forgotten.
  void set(Time at);
  // The same by this time: what was set before stays where it comes sooner.
  void set_by(Time at);
  void set_never();
  // The same, and the loop need not stay for it.
  void stop();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Event for one waiting coroutine: until it is rung, or a time has come.
class AsyncEvent {
 public:
  explicit AsyncEvent(const boost::asio::any_io_executor& executor);

  // True: it was rung. Rung without a waiter, it is lost.
  boost::asio::awaitable<bool> wait_until(CoarseTimer::Time at);
  void ring();
  // Rung, and there will be no further waiter.
  void stop();

 private:
  boost::asio::steady_timer waiting_;
  CoarseTimer clock_;
  bool rung_ = false;
};

}  // namespace mcpac::ipc
