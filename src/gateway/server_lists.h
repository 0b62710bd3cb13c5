// ServerLists: what servers say that they have besides tools, kept while it is fresh.
//
// One for a gateway: nothing of a client is in it, and who may see which entry is decided later
// (offer_view.h). Entries are the server's, unchanged; one without a usable name or URI is left
// out. Everything that a server can make long is bounded. A list that did not change is the one
// that there was: what was worked out from it holds on. On the loop's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/json.h"
#include "gate/servers.h"
#include "gateway/known_list.h"
#include "gateway/list_kind.h"

namespace mcpac::gateway {

// Null: it is not known what the server has.
using ServerList = std::shared_ptr<const KnownList>;
using ListsByServer = std::map<std::string, ServerList>;

class ServerLists {
 public:
  // Both are borrowed.
  ServerLists(gate::Servers& servers, const Clock& clock) : servers_(servers), clock_(clock) {}

  // The lists of these servers, asked for where they are not fresh. `done` may come at once.
  void get(ListKind kind, const std::set<std::string>& servers,
           std::function<void(const ListsByServer&)> done);
  // What is kept is not so any more.
  void forget(const std::string& server, ListKind kind);

 private:
  using Done = std::function<void(const ServerList&)>;
  struct Slot {
    ServerList list;
    std::chrono::steady_clock::time_point fresh_until;
    std::vector<Done> waiting;  // somebody asks the server already
    bool is_outdated = false;   // it changed meanwhile
  };
  struct Reading;
  using Key = std::pair<std::string, ListKind>;

  void get_one(const Key& key, Done done);
  void read_page(const std::shared_ptr<Reading>& reading, Json params);
  void add_page(const std::shared_ptr<Reading>& reading, const Json& result);
  void finish(const std::shared_ptr<Reading>& reading, ServerList list);

  gate::Servers& servers_;
  const Clock& clock_;
  std::map<Key, Slot> slots_;
  // Answers may come when this object is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace mcpac::gateway
