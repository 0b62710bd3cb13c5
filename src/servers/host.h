// SPDX-License-Identifier: Apache-2.0

// Host: the event loop of a run on its own thread, and the servers behind it.
//
// The stages of a run (analyse, compile, wait for the agent) block the main thread; the connections
// to servers and the agent's channel live on the loop. Taking a Host down ends every server by the
// shutdown ladder and joins the thread; nothing of it runs afterwards.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "codegen/lock.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "mcp/server_config.h"
#include "servers/upstream_interposer.h"
#include "servers/upstreams.h"

namespace mcpac::servers {

// Hears which server is waited for, once each, where one takes more than some seconds.
using OnWait = std::function<void(std::string_view text)>;

class Host {
 public:
  // Both are borrowed for the life of the host.
  Host(const mcp::Config& config, const codegen::Lock& lock);
  [[nodiscard]] const mcp::Config& config() const { return config_; }
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Starts the servers that are not started yet and returns at once. Unknown or disabled names are
  // left out here and reported by wait_for().
  void start(const std::set<std::string>& servers);
  // Names of those that were.
  [[nodiscard]] std::set<std::string> started() const;
  // Waits until the servers are usable. An Error for the first that is not; kLockDrift when one of
  // `tools` ("server.tool") is not what the lock approved.
  [[nodiscard]] Result<void> wait_for(const std::set<Permission>& tools, const Interrupt& interrupt,
                                      const OnWait& waits);

  // The same, but a tool that drifted is an answer: those of `tools` that cannot be called.
  [[nodiscard]] Result<std::map<Permission, Drift>> drifted_of(const std::set<Permission>& tools,
                                                               const Interrupt& interrupt,
                                                               const OnWait& waits);

  // Runs `work` on the loop and waits for its result. Not from the loop itself.
  template <class Work>
  auto on_loop(Work work) -> decltype(work()) {
    std::packaged_task<decltype(work())()> task(std::move(work));
    auto result = task.get_future();
    // As a lambda: what post() returns for a packaged_task depends on which headers of Asio a file
    // has.
    boost::asio::post(loop_, [task = std::move(task)]() mutable { task(); });
    return result.get();
  }

  [[nodiscard]] boost::asio::any_io_executor executor() { return loop_.get_executor(); }
  [[nodiscard]] Upstreams& upstreams() { return *upstreams_; }

  // Upstream of the gates: the servers, or an interposer before or instead of them. Put there once,
  // before the first call; it goes before the servers do.
  [[nodiscard]] gate::Upstream& servers() {
    return between_ ? *between_ : static_cast<gate::Upstream&>(*upstreams_);
  }
  // The same for what is asked of servers besides calls.
  [[nodiscard]] gate::Servers& offering() {
    return between_ ? *between_ : static_cast<gate::Servers&>(*upstreams_);
  }
  void put_before_servers(std::unique_ptr<UpstreamInterposer> between) {
    between_ = std::move(between);
  }
  // No server is started from here on; waiters for one are told that it is as the lock has it.
  void put_in_place_of_servers(std::unique_ptr<UpstreamInterposer> between);

 private:
  using Started = std::shared_future<Result<Drifted>>;
  // Until it is there or has failed; false: interrupted.
  [[nodiscard]] bool wait_until_started(const std::string& name, const Started& server,
                                        const Interrupt& interrupt, const OnWait& waits) const;

  // News of a server that starts slowly, since the last time; empty for nothing.
  [[nodiscard]] std::string take_said(const std::string& server) const;

  const mcp::Config& config_;
  std::map<std::string, Started> started_;
  // By the loop, of servers that start slowly; read by their waiters.
  struct Said {
    std::mutex mutex;
    std::map<std::string, std::string> texts;
  };
  std::shared_ptr<Said> said_ = std::make_shared<Said>();
  boost::asio::io_context loop_{1};  // of one thread: what it gives itself to do takes no lock
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::unique_ptr<Upstreams> upstreams_;
  std::unique_ptr<UpstreamInterposer> between_;
  bool has_servers_ = true;
  std::thread thread_;
};

}  // namespace mcpac::servers
