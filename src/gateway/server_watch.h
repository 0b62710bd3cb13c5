// SPDX-License-Identifier: Apache-2.0

// ServerWatch: subscriptions to servers: changes of resources and lists, logs.
//
// One for a gateway. A server is asked once for all subscribers; what it then says is passed on by
// these (session_offers.h). A server of the initialize era is asked resource by resource, one of
// 2026-07-28 by one open `subscriptions/listen` with all of them. What
// changes of that is asked for in measure: one at a time, the one before stays until the server has
// acknowledged the next, and stays where that is refused, so no client's wishes cost others what
// they hear. On the loop.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/backoff.h"
#include "core/clock.h"
#include "gate/servers.h"

namespace mcpac::gateway {

// Subscriptions: resources watched at servers, their subscribers, and whether the server was told.
//
// A server of the `initialize` era is asked resource by resource, once for all who watch it, and
// told when the last of them has gone. What it said no to it was not told: the next subscriber has
// it asked again. Of a server of 2026-07-28 only the resources are kept here (server_watch.h).
// Clients choose the URIs, and one server's are told it together, again with every change: so a
// client has a share of what is watched at a server, and one that finds no room is told so. On the
// loop.

// The same resource, or one below it: servers may tell of a part of what was subscribed to.
[[nodiscard]] bool is_part_of(std::string_view uri, std::string_view whole);

// How many resources are watched at one server, and the bytes of their URIs as they are written to
// it. Servers over HTTP refuse large requests, others end with a long line: what is written is far
// below either.
struct WatchLimits {
  std::size_t client_uris = 1'024;
  std::size_t client_bytes = std::size_t{64} << 10U;
  std::size_t all_uris = 4'096;
  std::size_t all_bytes = std::size_t{512} << 10U;
};

class Subscriptions {
 public:
  // One who subscribes: its client, and a number that is unique, now and later.
  struct Subscriber {
    std::string client{};
    std::uint64_t number = 0;
    friend auto operator<=>(const Subscriber&, const Subscriber&) = default;
  };
  using Done = std::function<void(Result<gate::Servers::Outcome>)>;

  // `servers` is borrowed.
  explicit Subscriptions(gate::Servers& servers, const WatchLimits& limits = {})
      : servers_(servers), limits_(limits) {}
  Subscriptions(const Subscriptions&) = delete;
  Subscriptions& operator=(const Subscriptions&) = delete;

  // Whether this client may watch these, too.
  [[nodiscard]] bool has_room_for(const std::string& client, const std::string& server,
                                  const std::set<std::string>& uris) const;
  // Puts it down, and nothing else.
  void add(const Subscriber& who, const std::string& server, const std::string& uri);
  // Has the server asked for what was added, where it was not told yet. `done` is what it says to
  // that; may come at once. `caller`: whose it is, where the server tells clients apart.
  void ask(const std::string& server, const std::string& uri, std::shared_ptr<gate::Caller> caller,
           Done done);
  // True: it is not watched any more.
  bool remove(const Subscriber& who, const std::string& server, const std::string& uri);
  // The server was started again, and knows of nothing. It is asked for some at a time.
  void ask_again(const std::string& server);

  [[nodiscard]] bool is_told(const std::string& server, const std::string& uri) const;
  // The subscribed resource of this server that this is, or is a part of; of several the longest,
  // which is a part of the others. Nothing: there is none.
  [[nodiscard]] std::optional<std::string> watched_whole(const std::string& server,
                                                         const std::string& uri) const;
  [[nodiscard]] std::vector<std::string> uris_at(const std::string& server) const;

 private:
  enum class Told : std::uint8_t { kNo, kAsked, kYes };
  struct Watched {
    std::set<Subscriber> subscribers{};  // in the order of their clients
    Told told = Told::kNo;
    std::uint64_t question = 0;     // which answer tells
    bool waits_for_server = false;  // it was asked before the server was there, and reaches it
    std::shared_ptr<std::vector<Done>> waiting = nullptr;  // for that answer
  };
  struct Share {
    std::size_t uris = 0;
    std::size_t bytes = 0;
    void add(const std::string& uri);
    void remove(const std::string& uri);
  };
  struct AtServer {
    std::map<std::string, Watched, std::less<>> watched{};
    Share all{};
    std::map<std::string, Share> shares{};  // by client
  };
  // What is to be asked of a server once more, and how much of it is under way.
  struct Again {
    std::deque<std::string> uris{};
    std::size_t under_way = 0;
  };
  void request(const std::string& server, const std::string& uri, Watched& watched,
               std::shared_ptr<gate::Caller> caller);
  void ask_more(const std::string& server);
  [[nodiscard]] static bool is_watched_by(const std::string& client, const Watched& watched);
  [[nodiscard]] Watched* find(const std::string& server, const std::string& uri);

  gate::Servers& servers_;
  WatchLimits limits_;
  std::uint64_t last_question_ = 0;
  std::map<std::string, AtServer> servers_watched_;
  std::map<std::string, Again> again_;
  // Answers may come when this object is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

class ServerWatch {
 public:
  using Subscriber = Subscriptions::Subscriber;
  // A unique number for one.
  [[nodiscard]] std::uint64_t new_subscriber() { return ++last_subscriber_; }
  using Done = Subscriptions::Done;
  struct Spans {
    // One that does not say that it listens is taken to do so.
    std::chrono::milliseconds acknowledges = std::chrono::seconds(10);
    // Between two requests with a small filter; longer for a large one.
    std::chrono::milliseconds rest{250};
  };

  // `servers` is borrowed.
  ServerWatch(gate::Servers& servers, boost::asio::any_io_executor executor,
              const Spans& spans = default_spans())
      : servers_(servers), executor_(std::move(executor)), spans_(spans), subscriptions_(servers) {}
  ~ServerWatch();
  ServerWatch(const ServerWatch&) = delete;
  ServerWatch& operator=(const ServerWatch&) = delete;

  // `done` is what the server says to it; may come at once. `caller`: whose it is, where the server
  // tells clients apart. Of what there is room for (Subscriptions::has_room_for).
  void subscribe(const Subscriber& who, const std::string& server, const std::string& uri,
                 std::shared_ptr<gate::Caller> caller, Done done);
  void unsubscribe(const Subscriber& who, const std::string& server, const std::string& uri);
  // The least severe level that a client wants of this server; it never gets more severe again.
  void want_level(const std::string& server, const std::string& level);
  [[nodiscard]] const Subscriptions& subscriptions() const { return subscriptions_; }
  // Counts a log message of no call; true: more came within a second than can be read.
  [[nodiscard]] bool is_too_much(const std::string& server, const Clock& clock);
  // It is known by now what this server can do; again, when it was started again.
  void settled(const std::string& server);
  // `notifications/subscriptions/acknowledged` of this server.
  void acknowledged(const std::string& server, const Json& params);
  // Hears of a server that listens again after it did not: what it said meanwhile is lost.
  void on_gap(std::function<void(const std::string& server)> heard) { gap_ = std::move(heard); }

 private:
  using Time = std::chrono::steady_clock::time_point;
  // One request that asks a server to tell.
  struct Asked {
    gate::Servers::RequestToken token = 0;  // 0: there is none
    std::uint64_t number = 0;               // which its end names
    Json filter;
  };
  struct Listening {
    Asked stands;  // acknowledged
    Asked comes;   // not yet
    bool has_stood = false;
    Time stands_since{};
    Time next{};   // request, at the earliest
    Json last_id;  // of what was acknowledged last
    // Before it is asked again.
    ExponentialBackoff backoff{std::chrono::seconds(5), std::chrono::seconds(600)};
    std::unique_ptr<boost::asio::steady_timer> again;
    Time again_at{};
    std::unique_ptr<boost::asio::steady_timer> patience;
  };
  static Spans default_spans() { return {}; }
  void listen(const std::string& server);
  void listen_soon(const std::string& server);
  void listen_at(const std::string& server, Time when);
  void ended(const std::string& server, std::uint64_t number);
  void stands(const std::string& server);
  void forget(Asked& asked);
  void apply_level(const std::string& server);
  [[nodiscard]] Json filter_of(const std::string& server) const;

  gate::Servers& servers_;
  boost::asio::any_io_executor executor_;
  Spans spans_;
  std::function<void(const std::string& server)> gap_;  // may be null
  std::uint64_t last_subscriber_ = 0;
  std::uint64_t last_asked_ = 0;
  Subscriptions subscriptions_;
  std::map<std::string, Listening> listening_;
  std::set<std::string> changed_;  // of those to be opened anew
  std::map<std::string, std::string> wanted_levels_;
  std::map<std::string, std::string> levels_;  // as the server was told
  struct Second {
    std::chrono::steady_clock::time_point begin;
    std::size_t messages = 0;
  };
  std::map<std::string, Second> logging_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace mcpac::gateway
