// SPDX-License-Identifier: Apache-2.0

#include "ipc/coarse_timer.h"

#include <optional>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace mcpac::ipc {
namespace asio = boost::asio;

struct CoarseTimer::State : std::enable_shared_from_this<CoarseTimer::State> {
  State(asio::any_io_executor executor, std::function<void()> the_due)
      : timer(std::move(executor)), due(std::move(the_due)) {}

  void arm(Time at) {
    armed = at;
    timer.expires_at(at);
    timer.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
      const auto self = weak.lock();
      if (self && !error) self->look();
    });
  }
  void look() {
    armed.reset();
    if (!wanted) return;
    if (std::chrono::steady_clock::now() < *wanted) return arm(*wanted);
    wanted.reset();
    due();
  }

  asio::steady_timer timer;
  std::function<void()> due;
  std::optional<Time> wanted;  // when `due` is called
  std::optional<Time> armed;   // when the timer fires: not later
};

CoarseTimer::CoarseTimer(asio::any_io_executor executor, std::function<void()> due)
    : state_(std::make_shared<State>(std::move(executor), std::move(due))) {}

CoarseTimer::~CoarseTimer() {
  stop();
}

void CoarseTimer::set(Time at) {
  state_->wanted = at;
  if (!state_->armed || at < *state_->armed) state_->arm(at);
}

void CoarseTimer::set_by(Time at) {
  if (!state_->wanted || at < *state_->wanted) set(at);
}

void CoarseTimer::set_never() {
  state_->wanted.reset();
}

void CoarseTimer::stop() {
  set_never();
  state_->armed.reset();
  state_->timer.cancel();
}

AsyncEvent::AsyncEvent(const asio::any_io_executor& executor)
    : waiting_(executor, CoarseTimer::Time::max()),
      clock_(executor, [this] { waiting_.cancel(); }) {}

asio::awaitable<bool> AsyncEvent::wait_until(CoarseTimer::Time at) {
  rung_ = false;
  clock_.set(at);
  std::ignore = co_await waiting_.async_wait(asio::as_tuple(asio::use_awaitable));
  clock_.set_never();
  co_return rung_;
}

void AsyncEvent::ring() {
  rung_ = true;
  waiting_.cancel();
}

void AsyncEvent::stop() {
  ring();
  clock_.stop();
}

}  // namespace mcpac::ipc
