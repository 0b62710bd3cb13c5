// SPDX-License-Identifier: Apache-2.0

// ClientGrant: the authority of one client, for as long as the gateway stands: its gate, its
// record, and the socket by which its user sees, revokes and ends it (`mcpac runs`).
//
// It is a run of the audit log like that of a program. All sessions of a client share it, so limits
// are not renewed by connecting again. Lives on the loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "gate/anomalies.h"
#include "gate/gate.h"
#include "gateway/call_room.h"
#include "gateway/client_approver.h"
#include "gateway/client_record.h"
#include "gateway/code_mode/code_mode.h"
#include "gateway/lists/catalog.h"
#include "gateway/lists/shown_lists.h"
#include "gateway/mcp_session.h"
#include "gateway/own_servers.h"
#include "gateway/tracing/tracer.h"
#include "gateway/waiting_room.h"
#include "run/asking/approval_store.h"
#include "run/live/run_control.h"
#include "servers/confine/server_places.h"

namespace mcpac::gateway {

class ClientGrant {
 public:
  struct Parts {
    std::string name;     // "mcpac serve, stdio"; stands in the record
    std::string subject;  // who that is: who comes under several names has one
    // Its name to servers, under former rules as well; empty: this run's alone.
    std::string identity = {};
    std::shared_ptr<const gate::ToolTable> tools;
    std::shared_ptr<const Catalog> catalog;
    std::unique_ptr<ClientRecord> log;
    std::unique_ptr<gate::Approver> approver;
    std::unique_ptr<run::RunMemory> memory;
    gate::Upstream* upstream = nullptr;                 // borrowed
    OwnServers* own = nullptr;                          // borrowed; null: it shares all servers
    Offers* offers = nullptr;                           // borrowed; null: tools alone
    std::shared_ptr<tracing::Tracer> tracer = nullptr;  // null: no tracing
    // Places that calls of confined servers can name by these rules, at the time of asking; null:
    // it uses none.
    std::function<servers::ReachOfServers(const policy::Authority&)> reach = nullptr;
    // Those of these servers that are not as they should be, in words; may be null.
    std::function<std::string(const std::set<std::string>& servers)> amiss = nullptr;
  };
  // `setup` as RunStarted recorded it; borrows from the parts.
  ClientGrant(Parts parts, gate::GateSetup setup);
  // Ends it, where that was not done.
  ~ClientGrant();
  ClientGrant(const ClientGrant&) = delete;
  ClientGrant& operator=(const ClientGrant&) = delete;

  // A session under this run's authority; `on_closed` is called once, when it or the run ends.
  // `transport`: what carries it, for its spans ("pipe", "tcp").
  [[nodiscard]] std::shared_ptr<McpSession> talk(std::function<void(Outgoing)> say,
                                                 std::function<void()> on_closed,
                                                 const char* transport = "pipe");
  // A server changed a tool: recorded, and told to every session.
  void heard_of_drift(std::string_view what, const std::string& name);
  // The connection to a server ended: recorded, where the client may have anything of it.
  void heard_of_end(const std::string& process);
  // A server sent a notification that belongs to no call: for its subscribers.
  void heard(const std::string& process, const std::string& method, const Json& params);
  // Something is amiss with a server: for subscribers of its log.
  void heard_of_state(const std::string& process, const std::string& text);
  // Places that its calls of confined servers can name now: less than at first, where something was
  // taken back, is another tool by now, or has a rule whose time is over.
  [[nodiscard]] servers::ReachOfServers reach() const;
  // Whether the client may have anything of this server.
  [[nodiscard]] bool uses(const std::string& server) const;
  // From time to time: calls whose clients did not come back with an answer are taken back, and
  // lists that are no longer paged through are dropped.
  void sweep() {
    parked_.sweep();
    shown_->sweep();
  }
  // Closes every session: what is in work is taken back. A client that is admitted again goes on
  // with it.
  void hang_up();
  // Closes every session and the record; `verdict` stands in it.
  void end(std::string_view verdict);

  [[nodiscard]] bool has_ended() const { return ended_; }
  [[nodiscard]] const std::string& name() const { return parts_.name; }
  [[nodiscard]] const std::string& subject() const { return parts_.subject; }
  [[nodiscard]] const std::string& identity() const { return parts_.identity; }
  [[nodiscard]] const gate::Upstream& upstream() const { return *parts_.upstream; }
  // Those of its programs belong to one that is counted.
  [[nodiscard]] std::size_t calls_in_flight() const {
    return gate_.in_flight() + (code_ ? code_->in_flight() : 0);
  }
  // It has a session, or a call that is waited for.
  [[nodiscard]] bool is_in_use() const;
  [[nodiscard]] gate::Gate& gate() { return gate_; }
  [[nodiscard]] const gate::Gate& gate() const { return gate_; }
  [[nodiscard]] gate::Anomalies& anomalies() { return anomalies_; }
  [[nodiscard]] const ClientRecord& log() const { return *parts_.log; }
  void control_by(std::unique_ptr<run::RunControl> control) { control_ = std::move(control); }
  // Before the first session.
  void offer(std::unique_ptr<code_mode::CodeMode> code) { code_ = std::move(code); }
  [[nodiscard]] code_mode::CodeMode* code() { return code_.get(); }

 private:
  ClientGrant(Parts parts, const Clock& clock, gate::GateSetup& setup);
  // "fs", "fs.read": of this client's own process, whose name it bears there ("fs#2.read"), as the
  // client knows it. Nothing: it is of another client's.
  [[nodiscard]] std::optional<std::string> as_known(const std::string& name) const;

  Parts parts_;
  gate::Anomalies anomalies_;
  gate::Gate gate_;
  ParkedCalls parked_;
  std::shared_ptr<ShownLists> shown_;
  std::shared_ptr<WaitingRoom> room_ = std::make_shared<WaitingRoom>();
  std::shared_ptr<CallRoom> calls_ = std::make_shared<CallRoom>();
  std::unique_ptr<code_mode::CodeMode> code_;  // or null
  std::shared_ptr<ServerQuestions> questions_;
  std::unique_ptr<run::RunControl> control_;
  std::set<std::weak_ptr<McpSession>, std::owner_less<>> sessions_;
  bool ended_ = false;
};

}  // namespace mcpac::gateway
