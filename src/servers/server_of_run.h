// SPDX-License-Identifier: Apache-2.0

// One server of a run, as Upstreams keeps it; for its own files alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <boost/asio/steady_timer.hpp>

#include "mcp/protocol.h"
#include "mcp/secrets.h"
#include "servers/restart_backoff.h"
#include "servers/upstreams.h"

namespace mcpac::servers {

// What is known of an ended client, by which the calls of others and its next start go. Processes
// that differ in nothing of it share one.
struct Upstreams::Past {
  mcp::SecretValues secrets;
  Json capabilities;
  bool is_stateless = false;
  friend bool operator==(const Past&, const Past&) = default;
};

struct Upstreams::Server {
  // The configured name, or that of a process that is one client's ("fs#2"): whom listeners hear
  // of.
  std::string name;
  mcp::ServerConfig config;
  // Coroutines that call it have a share of it: it may be replaced meanwhile
  // (upstream_restart.cpp). What none waits for ends with it.
  std::shared_ptr<mcp::Client> client;
  Drifted drifted;
  // Those that were shown as another tool once, also in a comparison that came to no end.
  Drifted ever_drifted;
  // Tools that the lock does not have: of the last comparison, and those that were told.
  std::set<std::string> gained;
  std::set<std::string> told_gained;
  std::optional<Error> failure;
  bool running = false;       // the first comparison is over
  bool ready = false;         // connected, and its tools are compared with the lock
  std::uint64_t changes = 0;  // how often it said that its tools changed
  std::uint64_t starts = 1;
  RestartBackoff back_off;
  // The same of sessions that it forgets: counted from the last one in which it answered a call.
  RestartBackoff renewals;
  bool has_answered = false;  // a call, in the session that there is
  // It forgot our session, and has no new one yet: it is called again, unlike an ended server.
  bool is_renewing = false;
  // It is to be started again, and then is, with what its rules give by then (start_anew()).
  bool is_anew = false;
  // Its client has no session: it was ended, and is started when start_own() says so. Closing: its
  // process is on its way out, and it is not ready meanwhile.
  bool is_resting = false;
  bool is_closing = false;
  // What stays of `client` while it rests; null where that is there.
  std::shared_ptr<const Past> past;
  // It has failed, and is asked for its tools again when that expires (upstream_compare.cpp).
  bool is_asked_on = false;
  boost::asio::steady_timer next_try;
  // Expires when the server is ready or has failed; calls that come earlier wait on it.
  boost::asio::steady_timer settled;
  // How many do, until each goes on: those that come then do not overtake them. Shared, since a
  // call that waits may outlive this object.
  std::shared_ptr<std::size_t> waiting = std::make_shared<std::size_t>(0);
  std::promise<Result<Drifted>> promise;
  std::shared_future<Result<Drifted>> future{promise.get_future().share()};

  Server(std::string n, mcp::ServerConfig c, const boost::asio::any_io_executor& executor)
      : name(std::move(n)),
        config(std::move(c)),
        next_try(executor),
        settled(executor, boost::asio::steady_timer::time_point::max()) {}
};

// Another attempt may go better. One that the lock refuses does not.
[[nodiscard]] bool is_passing(const Error& error);

}  // namespace mcpac::servers
