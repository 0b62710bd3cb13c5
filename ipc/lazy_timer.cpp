#include "ipc/lazy_timer.h"

#include <optional>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace mcpac::ipc {
namespace asio = boost::asio;

struct LazyTimer::State : std::enable_shared_from_this<LazyTimer::State> {
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

LazyTimer::LazyTimer(asio::any_io_executor executor, std::function<void()> due)
    : state_(std::make_shared<State>(std::move(executor), std::move(due))) {}

LazyTimer::~LazyTimer() {
  stop();
}

void LazyTimer::set(Time at) {
  state_->wanted = at;
  if (!state_->armed || at < *state_->armed) state_->arm(at);
}

void LazyTimer::set_by(Time at) {
  if (!state_->wanted || at < *state_->wanted) set(at);
}

void LazyTimer::set_never() {
  state_->wanted.reset();
}

void LazyTimer::stop() {
  set_never();
  state_->armed.reset();
  state_->timer.cancel();
}

Bell::Bell(const asio::any_io_executor& executor)
    : waiting_(executor, LazyTimer::Time::max()), clock_(executor, [this] { waiting_.cancel(); }) {}

asio::awaitable<bool> Bell::wait_until(LazyTimer::Time at) {
  rung_ = false;
  clock_.set(at);
  std::ignore = co_await waiting_.async_wait(asio::as_tuple(asio::use_awaitable));
  clock_.set_never();
  co_return rung_;
}

void Bell::ring() {
  rung_ = true;
  waiting_.cancel();
}

void Bell::stop() {
  ring();
  clock_.stop();
}

}  // namespace mcpac::ipc
