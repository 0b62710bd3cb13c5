// SPDX-License-Identifier: Apache-2.0

// McpSession: protocol session with one ordinary MCP client, in either protocol era.
//
// A state machine: messages in, messages out, and the gate behind it. It owns no descriptor, timer
// or thread; doors carry its messages (stdio_door.h, http/door.h). Nothing that a client says can
// widen what it may do: authority is the gate's and the catalog's, and both were made before the
// session. Every request gets exactly one answer, but those that the client took back.
// Single-threaded.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "gate/anomalies.h"
#include "gate/caller.h"
#include "gate/gate.h"
#include "gateway/call_answer.h"
#include "gateway/call_of_client.h"
#include "gateway/code_mode/own_tools.h"
#include "gateway/listening.h"
#include "gateway/lists/catalog.h"
#include "gateway/request_context.h"
#include "gateway/tracing/session_spans.h"
#include "ipc/json_rpc.h"

namespace mcpac::gateway {

// ParkedCalls: calls whose client was asked a question, and has to come back with the answer.
//
// A client of 2026-07-28 is asked by a result (`input_required`) and answers by making its request
// once more. In between no request waits at this end, while the server, or a question of ours,
// does. What the client brings back (`requestState`) is a random name that is worth something once,
// for the client that got it, for the very same call, and for ten minutes. One for each client run.
class CallOfClient;

struct ParkedCall {
  std::shared_ptr<CallOfClient> call;
  std::string digest;                  // of tool and arguments
  std::vector<std::string> questions;  // their names
  gate::Caller::Replied reply;         // an object, with a reply to each
};

class ParkedCalls {
 public:
  // Both are borrowed.
  ParkedCalls(gate::Gate& gate, const Clock& clock) : gate_(gate), clock_(clock) {}

  // The name to come back with; empty: too many calls wait for their clients.
  [[nodiscard]] std::string park(ParkedCall call);
  // Nothing: there is none of this name any more, it is of another call, or `fits` says no; then it
  // stays.
  using Fits = std::function<bool(const ParkedCall&)>;
  [[nodiscard]] std::optional<ParkedCall> take(const std::string& name, const std::string& digest,
                                               const Fits& fits);
  [[nodiscard]] std::size_t count() const { return calls_.size(); }
  // Calls whose clients did not come back in time are taken back. With every park and take, and by
  // the owner's timer.
  void sweep();

 private:
  struct Entry {
    ParkedCall call;
    std::chrono::steady_clock::time_point until;
  };
  gate::Gate& gate_;
  const Clock& clock_;
  std::map<std::string, Entry> calls_;
};

class CallRoom;
class Offers;
class SessionOffers;
class ShownLists;
class WaitingRoom;

// A message for the client, and where it belongs: a door over HTTP has a stream for each request.
struct Outgoing {
  // One JSON-RPC message, no newline. Empty: the client took the request back, and nothing is said.
  std::string line;
  // The client's request that it answers or reports on; none: it is for the client as such.
  std::optional<ipc::Id> about{};
  bool is_answer = false;       // the last that is said of `about`
  std::int64_t error_code = 0;  // of an answer that is an error
  // Beside answers: its sender goes on only when it has come. A door that cannot send one says
  // so (not_sent()), or ends; what is neither may be dropped where the client does not read.
  bool is_needed = false;
  std::string question{};  // of a request of ours: its id
};

struct SessionLimits {
  std::size_t max_calls_in_flight = 256;
  std::size_t max_listens = 16;  // subscriptions/listen that are open
};

struct SessionSetup {
  std::string client;                    // by which servers' calls are told apart
  gate::Gate* gate = nullptr;            // borrowed
  gate::Anomalies* anomalies = nullptr;  // borrowed
  std::shared_ptr<const Catalog> catalog;
  OwnTools* own = nullptr;  // borrowed; may be null
  // Borrowed. Null: a client of 2026-07-28 is asked nothing.
  ParkedCalls* parked = nullptr;
  // Borrowed. Null: the client has tools alone.
  Offers* offers = nullptr;
  // Of all its sessions; null: of this one alone.
  std::shared_ptr<ShownLists> shown = nullptr;
  std::shared_ptr<WaitingRoom> room = nullptr;
  std::shared_ptr<CallRoom> calls = nullptr;
  // Null: servers ask nothing of this client.
  std::shared_ptr<ServerQuestions> questions = nullptr;
  // Those of its servers that are not as they should be now, in words; empty, or null: none.
  std::function<std::string()> amiss = nullptr;
  // Tools that are another one by now: not shown any more.
  Catalog::Hidden is_quarantined = [](const Permission&) { return false; };
  // By which name servers are asked for what is no call: that of a process of this client's own
  // (own_servers.h). Null: by theirs.
  std::function<std::string(const std::string& server)> process_of = nullptr;
  std::function<void(Outgoing)> say;
  // Nothing will be said any more. Once.
  std::function<void()> on_closed = nullptr;
  SessionLimits limits{};
  tracing::SessionFacts trace{};
};

class McpSession : public std::enable_shared_from_this<McpSession> {
 public:
  // No request with such an id is answered: it would be kept, and said again.
  [[nodiscard]] static bool is_too_long(const ipc::Id& id);
  // Of a message that cannot be read what its error names; nothing: it has no such id, or is a
  // response.
  [[nodiscard]] static std::optional<ipc::Id> echoed_id(const ipc::RpcError& error);

  [[nodiscard]] static std::shared_ptr<McpSession> open(SessionSetup setup);
  ~McpSession();
  McpSession(const McpSession&) = delete;
  McpSession& operator=(const McpSession&) = delete;

  // A line, or a message that was decoded already.
  void receive(std::string_view line);
  void receive(ipc::Message message);
  // What is no message is answered where the sender can be told of it.
  void receive_malformed(const ipc::RpcError& error);

  // The client does not get this request of ours (Outgoing::question), since it does not read: it
  // has no answer.
  void not_sent(const std::string& question);
  // The waiter for the answer to this request has gone: it is taken back.
  void forget(const ipc::Id& id);
  // The tools of some server are other ones now.
  void tools_changed();
  // A server said something that is about no call.
  void heard(const std::string& server, const std::string& method, const Json& params);
  // No further request is taken; subscriptions end with their answer.
  void finish();
  // The client says nothing any more: what it was asked has no answer, and nothing is asked.
  void input_ended();
  // Takes back all that is in work. Nothing is said any more. Idempotent.
  void close();
  [[nodiscard]] bool is_closed() const { return closed_; }

  [[nodiscard]] std::size_t calls_in_flight() const;
  // From which level on this client of the `initialize` era wants logs; empty: none.
  [[nodiscard]] std::string log_level() const;
  [[nodiscard]] bool is_initialized() const { return version_.has_value(); }
  // The revision that initialize agreed on.
  [[nodiscard]] const std::optional<std::string>& version() const { return version_; }

 private:
  friend class CallOfClient;
  friend class SessionOffers;
  struct Call {
    std::shared_ptr<CallOfClient> call;
    bool is_taken_back = false;
  };

  explicit McpSession(SessionSetup setup);
  void handle(ipc::Request request);
  void handle(const ipc::Notification& notification);
  void handle(ipc::Response response);
  bool handle_in_both(const ipc::Request& request, const RequestContext& context);
  void handle_stateless(const ipc::Request& request, const RequestContext& context);
  void handle_initialized(const ipc::Request& request, const RequestContext& context);
  void initialize(const ipc::Request& request);
  void discover(const ipc::Request& request);
  // Capabilities for this client.
  [[nodiscard]] Json capabilities() const;
  void list_tools(const ipc::Request& request, const RequestContext& context);
  void call_tool(const ipc::Request& request, const RequestContext& context);
  // A call for the gate to judge; its answer has the form of what was asked for.
  struct Wanted {
    CallForm form = CallForm::kTool;
    std::string name{};  // as the client said it: of a prompt, or a URI
  };
  void make_call(const ipc::Request& request, const RequestContext& context, gate::CallRequest call,
                 Wanted wanted);
  void call_own(const ipc::Request& request, const RequestContext& context, const std::string& name,
                const Json& arguments);
  // The answer to a call that has none of a server.
  void say_refusal(const ipc::Id& id, Era era, const Wanted& wanted, const gate::CallError& error);
  // Of what the client is not offered, whatever the gate has: recorded as that, and answered so.
  void refuse_unoffered(const ipc::Id& id, gate::CallRequest call, const ipc::ErrorObject& error);
  // Adds what a model is told of our own tools, and of servers that are not there.
  void instruct(Json& result) const;
  void come_back(const ipc::Request& request, const RequestContext& context,
                 const std::string& digest);
  // For requests that are about no call of its own.
  [[nodiscard]] std::shared_ptr<gate::Caller> caller_of_nothing() const;
  void listen(const ipc::Request& request);
  void end_listening(const ipc::Id& id);
  [[nodiscard]] bool stop_listening(const ipc::Id& id);
  void tell_listeners(std::string_view method, const Json& params,
                      const std::function<bool(const Listening&)>& hears);
  [[nodiscard]] bool listens_to(const std::function<bool(const Listening&)>& is_meant) const;
  void answered(const ipc::Id& id, const CallOfClient& call, gate::Answer given);
  // A request of ours to the client, of the call `about`.
  void ask(const ipc::Id& about, const std::string& method, const Json& params,
           gate::Caller::Replied done);
  // The same of a stateless client: its request is answered with the questions, {name: {method,
  // params}}; `done` gets a reply for each name.
  void ask_by_result(const ipc::Id& about, Json questions, gate::Caller::Replied done);
  // Drops the questions for this call: they have no answer any more.
  void drop_questions(const ipc::Id& about);

  [[nodiscard]] bool is_calling(const ipc::Id& id) const { return !closed_ && calls_.contains(id); }
  [[nodiscard]] bool is_busy(const ipc::Id& id) const;
  [[nodiscard]] bool client_answers(const std::string& method, const RequestContext& context) const;
  [[nodiscard]] bool has_tools() const;
  void say_result(const ipc::Id& id, const Json& result);
  void say_ordered(const ipc::Id& id, const OrderedJson& result);
  void say_error(const std::optional<ipc::Id>& id, const ipc::ErrorObject& error);
  void say_error(const ipc::Id& id, std::int64_t code, std::string message);
  // Of what is no request of the session, though it may have the id of one.
  void say_of_none(const std::optional<ipc::Id>& id, const ipc::ErrorObject& error);
  void say_nothing(const ipc::Id& id);
  void say_about(const std::optional<ipc::Id>& about, std::string line);

  struct Asked {
    ipc::Id about;
    gate::Caller::Replied done;
  };

  SessionSetup setup_;
  std::optional<std::string> version_;
  Json capabilities_;  // of initialize
  tracing::SessionSpans spans_;
  std::map<ipc::Id, Call> calls_;
  std::map<ipc::Id, Listening> listens_;
  std::unique_ptr<SessionOffers> offers_;
  std::map<std::string, Asked> asked_;
  std::uint64_t last_asked_ = 0;
  bool finishing_ = false;
  bool mute_ = false;  // nothing comes from the client any more
  bool closed_ = false;
};

}  // namespace mcpac::gateway
