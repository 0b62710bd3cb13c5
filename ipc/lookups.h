// SPDX-License-Identifier: Apache-2.0

// Lookups: blocking look-ups of names on threads of their own, for a loop that must not wait.
//
// A name server can take half a minute and cannot be interrupted, so these threads are never
// joined: once closed, what they still find out is dropped, and they touch nothing but their own
// state. How many there are, and how many names wait for one, is bounded; a name without a waiter
// is no longer asked for. All of it but the look-up itself is on the loop's thread; `found` is
// called once, never inside ask().
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/error.h"
#include "ipc/name_service.h"

namespace mcpac::ipc {

struct LookupLimits {
  std::size_t at_once = 16;
  std::size_t waiting = 64;
};
using LookUp = std::function<Result<Addresses>(const std::string&)>;

class Lookups {
 public:
  using Found = std::function<void(Result<Addresses>)>;
  // `look_up` is called on several threads at once, and may be after this is gone.
  Lookups(boost::asio::any_io_executor executor, LookUp look_up, LookupLimits limits = {});
  ~Lookups();
  Lookups(const Lookups&) = delete;
  Lookups& operator=(const Lookups&) = delete;

  using Ticket = std::uint64_t;
  // kNetworkName when too many are asked for; then `found` is not called.
  [[nodiscard]] Result<Ticket> ask(std::string name, Found found);
  // Cancels the wait: `found` is not called.
  void forget(Ticket ticket);
  // Tells all waiters that it was given up, and answers nothing after that.
  void close();
  // Answers nothing and calls no callback from here on: the loop may be going.
  void leave_alone();

 private:
  struct State;    // shared with the threads
  struct Waiting;  // who waits for what: the loop's alone
  static void work(const std::shared_ptr<State>& state, const std::weak_ptr<Waiting>& waiting);

  std::shared_ptr<State> state_;
  std::shared_ptr<Waiting> waiting_;
  LookupLimits limits_;
};

// The same for a coroutine: the answer, or kNetworkName when `patience` is cancelled or `at_most`
// is over. A waiter that stops, also by being destroyed, is taken out of the queue.
[[nodiscard]] boost::asio::awaitable<Result<Addresses>> look_up(std::shared_ptr<Lookups> lookups,
                                                                std::string name,
                                                                boost::asio::steady_timer& patience,
                                                                std::chrono::milliseconds at_most);

// Those of this loop, by the system's name service: one set of threads for all who connect on it.
[[nodiscard]] std::shared_ptr<Lookups> system_lookups(const boost::asio::any_io_executor& executor);
// Others in their place, for tests: a name service that never answers.
void replace_system_lookups(const boost::asio::any_io_executor& executor,
                            std::shared_ptr<Lookups> lookups);

}  // namespace mcpac::ipc
