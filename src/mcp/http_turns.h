// SPDX-License-Identifier: Apache-2.0

// HttpTurns: fair queue of messages for the connections to an HTTP server.
//
// A call has a connection for as long as its server works on it. Without a bound one client with
// calls of a slow tool would take every descriptor of the process; with a bound alone it would take
// every connection. So a client has at most as many as are left free beside all that are in use, at
// this server and over all: alone half of them, two a third each, and the next client finds one.
// What waits goes client by client in turn, and of one client in its order; a notification before
// its calls. Time limits count from the beginning: what waits too long ends, and its caller hears
// that the server has not seen it (Session::too_late).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "mcp/connection_room.h"
#include "mcp/transport.h"

namespace mcpac::mcp {

class HttpTurns {
 public:
  using Client =
      std::shared_ptr<const std::string>;  // null: no client in particular, without a share

  explicit HttpTurns(std::shared_ptr<ConnectionRoom> room) : room_(std::move(room)) {}
  ~HttpTurns();
  HttpTurns(const HttpTurns&) = delete;
  HttpTurns& operator=(const HttpTurns&) = delete;

  // The message again, where it may go now; its turn lasts until end(). Nothing: it waits.
  [[nodiscard]] std::optional<Outgoing> take(Outgoing message);
  void end(const Client& client);
  // The next of those that wait, where one may go.
  [[nodiscard]] std::optional<Outgoing> next();
  // The request has waited so far, and does not any more.
  bool take_out(std::int64_t request_id);
  // Nothing waits any more.
  void clear();
  [[nodiscard]] bool has_waiting() const { return !order_.empty(); }

 private:
  struct Share {
    std::size_t active = 0;
    std::deque<Outgoing> waiting;
  };
  using Shares = std::map<std::string, Share, std::less<>>;
  [[nodiscard]] bool may_go(const Shares::value_type& client) const;
  Outgoing begin(Shares::value_type& client, Outgoing message);

  std::shared_ptr<ConnectionRoom> room_;
  std::size_t active_ = 0;
  Shares shares_;
  std::deque<Shares::value_type*> order_;  // the waiting clients, the next one first
};

}  // namespace mcpac::mcp
