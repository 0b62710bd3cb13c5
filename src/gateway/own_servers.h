// SPDX-License-Identifier: Apache-2.0

// OwnServers: per-client processes of servers with "share": "client" in their "sandbox"
// (docs/configuration.md).
//
// A process has a name of its own, "SERVER#N" (gate/servers.h). Lists, subscriptions and what it
// says are kept by that name, so that nothing of it reaches another client, and its places are what
// the rules of its client give at its start. It is started with the first session of the client,
// and ended with the last: at once, or a minute after the last request of a client that has no
// sessions. A client is named by its identity (ClientRegistry::identity_of), under former rules as
// well. On the loop.
//
// Of a client whose processes have ended stay their names, the tools that drifted and what starts
// them again (Upstreams::rest). Clients are remembered as long as ClientRegistry does: each has a
// name that the user's rules let in, and keeps a run there, its gate and its record, which is more.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <boost/asio/any_io_executor.hpp>

#include "core/clock.h"
#include "gate/forwarding_upstream.h"
#include "servers/confine/server_places.h"
#include "servers/upstreams.h"

namespace mcpac::gateway {

class OwnServers {
 public:
  // Each is a process with its sandbox, and clients of a gateway are untrusted.
  static constexpr std::size_t kMost = 64;
  static constexpr std::chrono::seconds kLinger{60};
  struct Setup {
    servers::Upstreams* upstreams = nullptr;  // borrowed
    const mcp::Config* config = nullptr;      // borrowed
    const Clock* clock = nullptr;             // borrowed
    boost::asio::any_io_executor executor;
    // Places that rules give the processes of this client, at the time of asking.
    std::function<project::PlacesOfServers(const std::string& client)> places;
    // Whether it has a session, or a call in work.
    std::function<bool(const std::string& client)> is_in_use;
    // A process of it was started.
    std::function<void(const std::string& client, const std::string& process)> started;
  };
  explicit OwnServers(Setup setup);
  // No start asks for places any more.
  ~OwnServers();
  OwnServers(const OwnServers&) = delete;
  OwnServers& operator=(const OwnServers&) = delete;

  // Whether clients have processes of this configured server to themselves.
  [[nodiscard]] bool is_own(const std::string& server) const { return servers_.contains(server); }
  [[nodiscard]] const std::set<std::string>& servers() const { return servers_; }
  // By which name the process of this client is known; of other servers their own.
  [[nodiscard]] std::string process_of(const std::string& client, const std::string& server);
  // Starts the client's process of this server, where it does not run. kServerStart: kMost run.
  [[nodiscard]] Result<void> start(const std::string& client, const std::string& server);
  // A session of the client is over; kRequest: one of a single request.
  enum class Session : std::uint8_t { kWhole, kRequest };
  void let_go(const std::string& client, Session session);
  // Periodic: ends processes of clients that have been away for long.
  void sweep();
  // Starts those of the client again that rules give more places by now.
  void give_more_places(const std::string& client);
  // Upstream decorator for calls of this client: starts what it needs. Stays for as long as this
  // object. `inner` is borrowed.
  [[nodiscard]] gate::Upstream& before(gate::Upstream& inner, const std::string& client);

 private:
  class Before;
  struct Client {
    std::uint64_t number = 0;
    std::set<std::string> running = {};  // servers
    std::chrono::steady_clock::time_point last_request = {};
    std::shared_ptr<servers::ConfinedRules> rules = {};
    std::unique_ptr<gate::Upstream> before = nullptr;
  };
  [[nodiscard]] Client& client_of(const std::string& client);
  [[nodiscard]] std::size_t count() const;
  void end_if_left(const std::string& name, Client& client);

  Setup setup_;
  std::set<std::string> servers_;
  std::map<std::string, Client> clients_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace mcpac::gateway
