// ServerWatch: what servers are asked to tell by themselves: changes of resources and lists, logs.
//
// One for a gateway. A server is asked once, whoever wants to hear; what it then says is passed on
// by whoever subscribed (session_offers.h). A server of the initialize era is asked resource by
// resource (subscriptions.h), one of 2026-07-28 by one open `subscriptions/listen` with all of
// them. On the loop.
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

#include "core/clock.h"
#include "gate/servers.h"
#include "gateway/subscriptions.h"

namespace mcpac::gateway {

class ServerWatch {
 public:
  using Subscriber = Subscriptions::Subscriber;
  [[nodiscard]] Subscriber new_subscriber() { return ++last_subscriber_; }
  using Done = Subscriptions::Done;

  // `servers` is borrowed.
  ServerWatch(gate::Servers& servers, boost::asio::any_io_executor executor)
      : servers_(servers), executor_(std::move(executor)), subscriptions_(servers) {}
  ~ServerWatch();
  ServerWatch(const ServerWatch&) = delete;
  ServerWatch& operator=(const ServerWatch&) = delete;

  // `done` is what the server says to it; may come at once. `caller`: whose it is, where the server
  // tells clients apart.
  void subscribe(Subscriber who, const std::string& server, const std::string& uri,
                 std::shared_ptr<gate::Caller> caller, Done done);
  void unsubscribe(Subscriber who, const std::string& server, const std::string& uri);
  // The least severe level that anybody wants of this server; it never gets more severe again.
  void want_level(const std::string& server, const std::string& level);
  [[nodiscard]] const Subscriptions& subscriptions() const { return subscriptions_; }
  // Counts a log message of no call; true: more came within a second than anybody reads.
  [[nodiscard]] bool is_too_much(const std::string& server, const Clock& clock);
  // It is known by now what this server can do; again, when it was started again.
  void settled(const std::string& server);

 private:
  struct Listening {
    gate::Servers::RequestToken token = 0;
    Json filter;
    std::chrono::seconds pause{0};  // before it is asked again; longer each time
    std::unique_ptr<boost::asio::steady_timer> again;
  };
  void listen(const std::string& server);
  void listen_soon(const std::string& server);
  void listen_again(const std::string& server);
  void apply_level(const std::string& server);
  [[nodiscard]] Json filter_of(const std::string& server) const;

  gate::Servers& servers_;
  boost::asio::any_io_executor executor_;
  Subscriber last_subscriber_ = 0;
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
