// SPDX-License-Identifier: Apache-2.0

// Offers: resources, prompts and the like of a gateway's servers, shared by all its clients.
//
// Nothing of one client is in it: who may see or read what is decided where a client asks
// (session_offers.h). On the loop's thread.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/clock.h"
#include "gate/servers.h"
#include "gateway/lists/server_lists.h"
#include "gateway/server_watch.h"

namespace mcpac::gateway {

class Offers {
 public:
  // `servers` and `clock` are borrowed. Hears from then on which servers are settled. `warning`:
  // of lists that servers do not give; may be null. `patience`: how long a client waits for its
  // first answer; many servers are fetched when they first start.
  static constexpr std::chrono::milliseconds kPatience{5'000};
  Offers(gate::Servers& servers, const boost::asio::any_io_executor& executor, const Clock& clock,
         ServerLists::Warning warning = nullptr, std::chrono::milliseconds patience = kPatience);
  ~Offers();
  Offers(const Offers&) = delete;
  Offers& operator=(const Offers&) = delete;

  // These are started, or will be. Of others nothing is to come.
  void use(const std::set<std::string>& servers);
  // `done` comes when it is known what these can do, at once where it is; a server that takes
  // longer than some seconds is not waited for.
  void when_settled(const std::set<std::string>& servers, std::function<void()> done);
  // Who waits for that.
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  // A notification of a server: drops lists that it says changed, and notes that it listens now.
  void heard(const std::string& server, const std::string& method, const Json& params);

  [[nodiscard]] gate::Servers& servers() { return servers_; }
  [[nodiscard]] ServerLists& lists() { return lists_; }
  [[nodiscard]] ServerWatch& watch() { return watch_; }
  // Whether any of these has this capability ("prompts"), and with this flag where one is named.
  // One that is not known yet may have it.
  [[nodiscard]] bool any_has(const std::set<std::string>& servers, std::string_view capability,
                             std::string_view flag = {}) const;

 private:
  struct Waiting {
    std::set<std::string> servers;
    std::function<void()> done;
    std::unique_ptr<boost::asio::steady_timer> patience = nullptr;
    std::list<std::shared_ptr<Waiting>>::iterator place{};
  };
  [[nodiscard]] bool is_settled(const std::string& server) const;
  [[nodiscard]] bool are_settled(const std::set<std::string>& servers) const;
  void look();

  gate::Servers& servers_;
  boost::asio::any_io_executor executor_;
  std::chrono::milliseconds patience_;
  ServerLists lists_;
  ServerWatch watch_;
  std::set<std::string> used_;
  std::map<std::string, std::uint64_t> known_;  // of these: settled, and which start of it
  std::list<std::shared_ptr<Waiting>> waiting_;
};

}  // namespace mcpac::gateway
