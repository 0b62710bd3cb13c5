// SPDX-License-Identifier: Apache-2.0

// Programs: work that blocks a thread, on threads of its own, a bounded number at a time.
//
// Analysing, compiling and running a program take seconds to minutes; the loop goes on meanwhile.
// One set for a gateway; a client has a share of it. Everything but the work itself is on the loop.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include <boost/asio/any_io_executor.hpp>

#include "core/error.h"
#include "core/json.h"
#include "gateway/code_mode/bounds.h"
#include "run/kill_switch.h"

namespace mcpac::gateway::code_mode {

class Programs {
 public:
  using Id = std::uint64_t;
  struct Limits {
    std::size_t of_client = kProgramsOfClient;
    std::size_t all = kProgramsOfGateway;
  };
  // On a thread of its own. It ends soon after `stop` is readable.
  using Work = std::function<Json(StopSignal stop)>;
  using Done = std::function<void(Json)>;

  explicit Programs(boost::asio::any_io_executor executor) : Programs(std::move(executor), {}) {}
  Programs(boost::asio::any_io_executor executor, Limits limits)
      : executor_(std::move(executor)), limits_(limits) {}
  // All have ended: see stop_all().
  ~Programs();
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  // `client`: the id of its run. An error: too many are at work. `done` comes later, once.
  [[nodiscard]] Result<Id> start(std::string client, Work work, Done done);
  // Unknown ids are ignored: it may have ended already.
  void stop(Id id);
  void stop_of(std::string_view client);
  // `ended` comes when none is left, maybe from inside. Nothing is started any more.
  void stop_all(std::function<void()> ended);
  [[nodiscard]] std::size_t of_client(std::string_view client) const;

 private:
  struct Job {
    std::string client;
    run::KillSwitch kill;
    Done done;
    std::thread thread;
  };
  void finish(Id id, Json result);

  boost::asio::any_io_executor executor_;
  Limits limits_;
  std::map<Id, Job> jobs_;
  Id last_ = 0;
  std::function<void()> ended_;
  bool closing_ = false;
};

}  // namespace mcpac::gateway::code_mode
