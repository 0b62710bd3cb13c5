// ServerWatch: subscriptions to servers: changes of resources and lists, logs.
//
// One for a gateway. A server is asked once for all subscribers; what it then says is passed on by
// these (session_offers.h). A server of the initialize era is asked resource by resource
// (subscriptions.h), one of 2026-07-28 by one open `subscriptions/listen` with all of them. What
// changes of that is asked for in measure: one at a time, the one before stays until the server has
// acknowledged the next, and stays where that is refused, so no client's wishes cost others what
// they hear. On the loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/backoff.h"
#include "core/clock.h"
#include "gate/servers.h"
#include "gateway/subscriptions.h"

namespace mcpac::gateway {

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
