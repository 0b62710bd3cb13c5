// SPDX-License-Identifier: Apache-2.0

#include "ipc/lookups.h"

#include <fmt/format.h>
#include <pthread.h>

#include <csignal>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace mcpac::ipc {
namespace asio = boost::asio;

struct Lookups::Waiting {
  std::map<std::uint64_t, Found> found;
};

struct Lookups::State {
  struct Question {
    std::uint64_t id = 0;
    std::string name;
  };
  LookUp look_up;
  std::mutex mutex;
  // What follows is under the mutex. Without an executor there is no listener left: a loop that may
  // be gone is not touched.
  std::optional<asio::any_io_executor> executor;
  std::deque<Question> queue;
  std::size_t running = 0;
  std::uint64_t last_id = 0;
};

namespace {

// Signals are for the loop's thread.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Lookups::Lookups(asio::any_io_executor executor, LookUp look_up, LookupLimits limits)
    : state_(std::make_shared<State>()), waiting_(std::make_shared<Waiting>()), limits_(limits) {
  state_->look_up = std::move(look_up);
  state_->executor = std::move(executor);
}

// The loop may be going as well: no callback is called.
Lookups::~Lookups() {
  leave_alone();
}

void Lookups::close() {
  leave_alone();
  for (auto& [id, found] : std::exchange(waiting_->found, {}))
    found(fail(ErrorId::kNetworkName, "the look-up was given up"));
}

void Lookups::leave_alone() {
  const std::lock_guard lock(state_->mutex);
  state_->executor.reset();
  state_->queue.clear();
}

// One thread: takes names as long as there are any.
void Lookups::work(const std::shared_ptr<State>& state, const std::weak_ptr<Waiting>& waiting) {
  for (;;) {
    State::Question question;
    {
      const std::lock_guard lock(state->mutex);
      if (state->queue.empty()) {
        --state->running;
        return;
      }
      question = std::move(state->queue.front());
      state->queue.pop_front();
    }
    auto answer = state->look_up(question.name);
    const std::lock_guard lock(state->mutex);
    if (!state->executor) continue;
    asio::post(*state->executor, [waiting, id = question.id, answer = std::move(answer)]() mutable {
      const auto all = waiting.lock();
      if (!all) return;
      if (auto node = all->found.extract(id)) node.mapped()(std::move(answer));
    });
  }
}

Result<Lookups::Ticket> Lookups::ask(std::string name, Found found) {
  const std::lock_guard lock(state_->mutex);
  if (!state_->executor) return fail(ErrorId::kNetworkName, "names are no longer looked up");
  if (state_->queue.size() >= limits_.waiting) {
    return fail(ErrorId::kNetworkName,
                fmt::format("too many names are being looked up: {} at once, and {} wait",
                            limits_.at_once, limits_.waiting));
  }
  if (state_->running < limits_.at_once) {
    const SignalsBlocked blocked;
    try {
      std::thread(&Lookups::work, state_, std::weak_ptr(waiting_)).detach();
      ++state_->running;
    } catch (const std::system_error& error) {
      // Where there is a thread, it takes this name when it is done with its own.
      if (state_->running == 0)
        return fail(ErrorId::kNetworkName, fmt::format("cannot look up names: {}", error.what()));
    }
  }
  const auto id = ++state_->last_id;
  waiting_->found.emplace(id, std::move(found));
  state_->queue.push_back({id, std::move(name)});
  return id;
}

void Lookups::forget(Ticket ticket) {
  waiting_->found.erase(ticket);
  const std::lock_guard lock(state_->mutex);
  std::erase_if(state_->queue,
                [ticket](const State::Question& question) { return question.id == ticket; });
}

namespace {

class Forgetting {
 public:
  Forgetting(Lookups& lookups, Lookups::Ticket ticket) : lookups_(lookups), ticket_(ticket) {}
  ~Forgetting() { lookups_.forget(ticket_); }
  Forgetting(const Forgetting&) = delete;
  Forgetting& operator=(const Forgetting&) = delete;

 private:
  Lookups& lookups_;
  Lookups::Ticket ticket_;
};

// Belongs to a loop and goes with it.
class OfLoop final : public asio::execution_context::service {
 public:
  static asio::execution_context::id id;
  explicit OfLoop(asio::execution_context& context) : service(context) {}
  std::shared_ptr<Lookups> lookups;

 private:
  void shutdown() override {
    if (lookups) lookups->leave_alone();
  }
};

asio::execution_context::id OfLoop::id;

OfLoop& of_loop(const asio::any_io_executor& executor) {
  return asio::use_service<OfLoop>(asio::query(executor, asio::execution::context));
}

}  // namespace

asio::awaitable<Result<Addresses>> look_up(std::shared_ptr<Lookups> lookups, std::string name,
                                           asio::steady_timer& patience,
                                           std::chrono::milliseconds at_most) {
  std::optional<Result<Addresses>> found;
  patience.expires_after(at_most);
  auto asked = lookups->ask(std::move(name), [&](Result<Addresses> answer) {
    found = std::move(answer);
    patience.cancel();
  });
  if (!asked) co_return pass_on(asked);
  const Forgetting when_gone(*lookups, *asked);
  const auto [given_up] = co_await patience.async_wait(asio::as_tuple(asio::use_awaitable));
  if (found) co_return std::move(*found);
  co_return fail(ErrorId::kNetworkName,
                 given_up ? "the look-up was given up" : "the name server does not answer");
}

std::shared_ptr<Lookups> system_lookups(const asio::any_io_executor& executor) {
  auto& here = of_loop(executor);
  if (!here.lookups) here.lookups = std::make_shared<Lookups>(executor, ask_name_service);
  return here.lookups;
}

void replace_system_lookups(const asio::any_io_executor& executor,
                            std::shared_ptr<Lookups> lookups) {
  of_loop(executor).lookups = std::move(lookups);
}

}  // namespace mcpac::ipc
