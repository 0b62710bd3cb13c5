// SPDX-License-Identifier: Apache-2.0

// SessionOffers: resources, prompts, completion and logs in one client's session.
//
// What is read or got is a call through the gate, like a tool's; lists show what the rules could
// ever allow, and a client that hears of a change may read what changed. A part of McpSession,
// which owns it and is seen from here. Without Offers a client has tools alone.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "gateway/listening.h"
#include "gateway/lists/offer_view.h"
#include "gateway/offers.h"
#include "gateway/request_context.h"
#include "ipc/json_rpc.h"

namespace mcpac::gateway {

class McpSession;

class SessionOffers {
 public:
  // Both are borrowed; `offers` may be null.
  SessionOffers(McpSession& session, Offers* offers) : session_(session), offers_(offers) {}

  // False: it is none of the methods that this client has here.
  [[nodiscard]] bool handle(const ipc::Request& request, const RequestContext& context);
  // Those of the `initialize` era alone.
  [[nodiscard]] bool handle_initialized(const ipc::Request& request);
  // What this client is told that there is, once that is known.
  void when_known(const ipc::Id& id, std::function<void()> done);
  [[nodiscard]] Json capabilities() const;

  // The wish of a subscriptions/listen; `done` gets what is agreed on. May come at once.
  void agree(const ipc::Id& id, const Json& wanted, std::function<void(Listening)> done);
  // It is open now; and it is over.
  void begin(Listening& listening);
  void end(const Listening& listening);

  // A server said something that is about no call.
  void heard(const std::string& server, const std::string& method, const Json& params);
  // From which level on logs are wanted; empty: none are.
  [[nodiscard]] const std::string& log_level() const { return log_level_; }
  // This level is wanted of the servers that the client may call.
  void want_level(const std::string& level);

  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  [[nodiscard]] bool is_waiting(const ipc::Id& id) const { return waiting_.contains(id); }
  // The client took the request back; false: it is none of these.
  [[nodiscard]] bool forget(const ipc::Id& id);
  void close();

 private:
  using Servers = std::set<std::string>;
  [[nodiscard]] Servers with(std::string_view capability, std::string_view flag = {}) const;
  // By which names the processes of these are asked.
  [[nodiscard]] std::string process_of(const std::string& server) const;
  [[nodiscard]] Servers processes_of(const Servers& servers) const;
  // Their lists, by the names of the servers.
  void get_lists(ListKind kind, const Servers& servers,
                 std::function<void(const ListsByServer&)> done) const;
  // Runs `then` when it is known, if the request still waits for it.
  template <class Then>
  auto unless_over(const ipc::Id& id, Then then);

  // What this client is shown of prompts, and what it calls them.
  [[nodiscard]] std::shared_ptr<const ShownPrompts> shown_prompts(const ListsByServer& lists) const;
  void list(const ipc::Request& request, const RequestContext& context, ListKind kind);
  void resource_lists(const Servers& servers, std::function<void(const ResourceLists&)> done);
  // The owner of a URI: the server, or why it has none.
  struct Owner {
    std::optional<std::string> server{};
    std::string uri{};  // in the spelling that the server gets
    bool is_disputed = false;
  };
  void find_owner(const std::string& uri, std::function<void(Owner)> done);
  // Of several, with one look at the servers' lists for all of them.
  using Owners = std::map<std::string, Owner>;
  void find_owners(const std::set<std::string>& uris, std::function<void(Owners)> done);
  void read(const ipc::Request& request, const RequestContext& context);
  void read_from(const ipc::Request& request, const RequestContext& context, const Owner& owner);
  void get_prompt(const ipc::Request& request, const RequestContext& context);
  void complete(const ipc::Request& request, const RequestContext& context);
  void complete_with_nothing(const ipc::Id& id, const RequestContext& context);
  // `params`: of completion/complete, as the server gets them.
  void complete_at(const ipc::Id& id, const RequestContext& context, const std::string& server,
                   Json params);
  void subscribe(const ipc::Request& request);
  void unsubscribe(const ipc::Request& request);
  // Who this is to the servers' watch; `number` is a subscriber's.
  [[nodiscard]] Subscriptions::Subscriber who(std::uint64_t number) const;
  // Whether all of these may be watched, besides what is.
  [[nodiscard]] bool may_watch(const std::map<std::string, Watched>& uris) const;
  // Unless the client named it in another spelling, too.
  void stop_watching(const Watched& watched);
  void set_level(const ipc::Request& request);

  void updated(const std::string& server, const Json& params);
  void logged(const std::string& server, const Json& params);
  // Allowed without a question, and the server tells of changes.
  [[nodiscard]] bool may_hear(const std::string& server, const std::string& uri) const;
  [[nodiscard]] bool means(const Listening& listening, const std::string& server,
                           const std::string& uri) const;
  // Recorded as one that is not offered, and answered with this.
  void refuse(const ipc::Request& request, std::string name, const ipc::ErrorObject& error);
  void say_no_room(const ipc::Id& id);
  void say_too_many(const ipc::Id& id);  // resources that are watched
  void say_too_long(const ipc::Id& id);  // its URI

  McpSession& session_;
  Offers* offers_;
  std::set<ipc::Id> waiting_;  // for lists, or for what servers say
  Listening own_;              // of the `initialize` era
  std::string log_level_;
};

}  // namespace mcpac::gateway
