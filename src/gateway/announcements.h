// SPDX-License-Identifier: Apache-2.0

// Announcements: notifications of servers that belong to no call, on their way to the clients.
//
// Changes reach clients in measure (announcement_coalescer.h), and only those of something watched;
// so do lists that came too late for their requests. A log message reaches one only where it can be
// about one client alone. Who may hear what is each session's business. On the loop.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <boost/asio/any_io_executor.hpp>

#include "core/clock.h"
#include "gateway/announcement_coalescer.h"
#include "gateway/client_registry.h"
#include "gateway/offers.h"

namespace mcpac::gateway {

class Announcements {
 public:
  // Hears what of servers is dropped; may be null.
  using Warning = std::function<void(const std::string&)>;
  // `offers`, `runs` and `clock` are borrowed.
  Announcements(Offers& offers, ClientRegistry& runs, const Clock& clock,
                boost::asio::any_io_executor executor, Warning warning = nullptr)
      : offers_(offers),
        runs_(runs),
        clock_(clock),
        warning_(std::move(warning)),
        pace_(std::move(executor)) {
    offers_.lists().on_late(
        [this](const std::string& server, ListKind kind) { came_late(server, kind); });
  }
  ~Announcements() { offers_.lists().on_late(nullptr); }
  Announcements(const Announcements&) = delete;
  Announcements& operator=(const Announcements&) = delete;

  // This client was let to these servers, which run.
  void let_in(const std::string& client, const std::set<std::string>& servers);
  void heard(const std::string& server, const std::string& method, const Json& params);

 private:
  void came_late(const std::string& server, ListKind kind);
  void say_too_long(const std::string& server) const;
  void pass_on(const std::string& server, const std::string& method, const Json& params);

  Offers& offers_;
  ClientRegistry& runs_;
  const Clock& clock_;
  Warning warning_;
  AnnouncementCoalescer pace_;
  // The clients ever admitted that may use a server.
  std::map<std::string, std::set<std::string>> clients_of_;
};

}  // namespace mcpac::gateway
