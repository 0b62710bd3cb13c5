// SPDX-License-Identifier: Apache-2.0

// AnnouncementCoalescer: coalesces and rate-limits unsolicited notifications of servers to clients.
//
// A server decides how often it says that something changed, and a client's connection must not
// fill with it. The first announcement of a kind is passed on at once, those that follow within a
// quarter of a second as one, at its end: nothing that changed last is missed. No server takes the
// place of another's announcements. On the loop's thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

namespace mcpac::gateway {

// Key of announcements that may be coalesced.
struct Announced {
  std::string server;
  std::string method;   // one of a few
  std::string watched;  // the watched resource; empty: a list
  friend auto operator<=>(const Announced&, const Announced&) = default;
};

class AnnouncementCoalescer {
 public:
  explicit AnnouncementCoalescer(boost::asio::any_io_executor executor)
      : executor_(std::move(executor)) {}

  // `uri`: what the server named, `about.watched` or a part of it. `tell` gets what is named to
  // clients: of several parts that changed meanwhile the whole. Of too many watched resources of
  // one server at once the rest is dropped; a list's change never is.
  using Tell = std::function<void(const std::string& uri)>;
  void tell(const Announced& about, const std::string& uri, Tell tell);
  [[nodiscard]] std::size_t count() const { return told_.size(); }

 private:
  struct Told {
    boost::asio::steady_timer timer;
    Tell next;  // null: nothing came since
    std::string uri;
  };
  void rest(const Announced& about);
  void end(const Announced& about);

  boost::asio::any_io_executor executor_;
  std::map<Announced, std::unique_ptr<Told>> told_;
  std::map<std::string, std::size_t> watched_;  // of these, by server
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace mcpac::gateway
