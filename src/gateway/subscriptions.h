// Subscriptions: which resources are watched at servers, by whom, and whether the server was told.
//
// A server of the `initialize` era is asked resource by resource, once for all who watch it, and
// told when the last of them has gone. What it said no to it was not told: whoever comes next has
// it asked again. Of a server of 2026-07-28 only the resources are kept here (server_watch.h). On
// the loop.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gate/servers.h"

namespace mcpac::gateway {

// The same resource, or one below it: servers may tell of a part of what was subscribed to.
[[nodiscard]] bool is_part_of(std::string_view uri, std::string_view whole);

class Subscriptions {
 public:
  // One who subscribes: a number that is nobody else's, now or later.
  using Subscriber = std::uint64_t;
  using Done = std::function<void(Result<gate::Servers::Outcome>)>;

  // `servers` is borrowed.
  explicit Subscriptions(gate::Servers& servers) : servers_(servers) {}
  Subscriptions(const Subscriptions&) = delete;
  Subscriptions& operator=(const Subscriptions&) = delete;

  // Puts it down, and nothing else.
  void add(Subscriber who, const std::string& server, const std::string& uri);
  // Has the server asked for what was added, where it was not told yet. `done` is what it says to
  // that; may come at once. `caller`: whose it is, where the server tells clients apart.
  void ask(const std::string& server, const std::string& uri, std::shared_ptr<gate::Caller> caller,
           Done done);
  // True: nobody watches it any more.
  bool remove(Subscriber who, const std::string& server, const std::string& uri);
  // The server was started again, and knows of nothing.
  void ask_again(const std::string& server);

  [[nodiscard]] bool is_told(const std::string& server, const std::string& uri) const;
  // What somebody subscribed to at this server that this is, or is a part of; of several the
  // longest, which is a part of the others. Nothing: nobody did.
  [[nodiscard]] std::optional<std::string> watched_whole(const std::string& server,
                                                         const std::string& uri) const;
  [[nodiscard]] std::vector<std::string> uris_at(const std::string& server) const;

 private:
  enum class Told : std::uint8_t { kNo, kAsked, kYes };
  struct Watched {
    std::set<Subscriber> subscribers{};
    Told told = Told::kNo;
    std::uint64_t question = 0;     // which answer tells
    bool waits_for_server = false;  // it was asked before the server was there, and reaches it
    std::shared_ptr<std::vector<Done>> waiting = nullptr;  // for that answer
  };
  void request(const std::string& server, const std::string& uri, Watched& watched,
               std::shared_ptr<gate::Caller> caller);
  [[nodiscard]] Watched* find(const std::string& server, const std::string& uri);

  gate::Servers& servers_;
  std::uint64_t last_question_ = 0;
  // Server → URI.
  std::map<std::string, std::map<std::string, Watched, std::less<>>> watched_;
  // Answers may come when this object is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace mcpac::gateway
