// SPDX-License-Identifier: Apache-2.0

// aside(): work that blocks, on a thread of its own, while the loop of its waiter goes on.
//
// The work has nothing of the loop; what it throws is thrown to its waiter. Where its waiter has
// gone meanwhile, with a loop that ended as well, its result is destroyed on its thread, which
// nobody joins and no signal comes to. Where no thread can be had the work is done on the loop.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace mcpac::ipc {

namespace detail {

// False: there is no thread.
[[nodiscard]] bool start_thread(std::function<void()> body);

template <class T>
struct AsideJob {
  std::mutex mutex;
  std::optional<T> result;
  std::exception_ptr thrown;
  boost::asio::steady_timer* waiter = nullptr;  // on the loop; null: it has gone
};

template <class T>
void work_aside(const std::shared_ptr<AsideJob<T>>& job, std::function<T()>& work) {
  std::optional<T> result;
  std::exception_ptr thrown;
  try {
    result.emplace(work());
  } catch (...) {
    thrown = std::current_exception();
  }
  work = nullptr;
  const std::scoped_lock alone(job->mutex);
  if (job->waiter == nullptr) return;
  job->result = std::move(result);
  job->thrown = thrown;
  // The loop is there as long as its waiter.
  boost::asio::post(job->waiter->get_executor(), [job] {
    const std::scoped_lock again(job->mutex);
    if (job->waiter != nullptr) job->waiter->cancel();
  });
}

}  // namespace detail

template <class T>
boost::asio::awaitable<T> aside(boost::asio::any_io_executor executor, std::function<T()> work) {
  const auto job = std::make_shared<detail::AsideJob<T>>();
  boost::asio::steady_timer waiter(executor);
  // Also when the loop is destroyed while this waits: then the frame unwinds without resuming.
  struct Waiting {
    detail::AsideJob<T>& job;
    ~Waiting() {
      const std::scoped_lock alone(job.mutex);
      job.waiter = nullptr;
    }
  };
  job->waiter = &waiter;
  const Waiting waiting{*job};
  if (!detail::start_thread([job, work]() mutable { detail::work_aside(job, work); }))
    co_return work();
  work = nullptr;
  for (;;) {
    {
      const std::scoped_lock alone(job->mutex);
      if (job->thrown) std::rethrow_exception(job->thrown);
      if (job->result) co_return std::move(*job->result);
    }
    waiter.expires_at(boost::asio::steady_timer::time_point::max());
    std::ignore = co_await waiter.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  }
}

}  // namespace mcpac::ipc
