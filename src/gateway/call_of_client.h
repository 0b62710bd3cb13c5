// SPDX-License-Identifier: Apache-2.0

// CallOfClient: one call at the gate, and the request of the client that its answer belongs to.
//
// Mostly that is the request that made it. A client that was asked something and came back makes
// another request, maybe in another session, and the call goes on as that one. What comes for a
// call without a request is kept (the answer) or dropped (reports).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "audit/log.h"
#include "core/error.h"
#include "core/json.h"
#include "gate/answer.h"
#include "gate/caller.h"
#include "gate/gate.h"
#include "gateway/call_answer.h"
#include "gateway/call_room.h"
#include "gateway/request_context.h"
#include "gateway/waiting_room.h"
#include "ipc/json_rpc.h"

namespace mcpac::gateway {

// ServerQuestions: the record of what servers ask of one client while they work on its calls.
//
// Elicitation, sampling and the list of roots reach the person or the model behind a client, so
// each is recorded before it is asked (ClientAsked) and when it is over (ClientReplied): which
// server, which call, which method, and how it ended. What was asked and replied is not: a form may
// hold what a person typed. A server cannot fill the record: a call has room for a number of
// questions. Shared by the run and its calls, which may outlive it. On the loop.
class ServerQuestions {
 public:
  // `sink` is borrowed until close().
  explicit ServerQuestions(audit::Sink& sink) : sink_(&sink) {}

  // The question's number; nothing: it cannot be recorded, and must not be asked.
  [[nodiscard]] std::optional<std::uint64_t> asked(std::uint64_t call, const std::string& server,
                                                   const std::string& method);
  void replied(std::uint64_t question, const std::string& method, const Result<Json>& reply);
  // The run is over.
  void close() { sink_ = nullptr; }

 private:
  audit::Sink* sink_;
  std::uint64_t last_ = 0;
};

// "accept", "decline", "cancel" of a form; "answered" of another question; "refused": the client
// answered with an error, or not at all.
[[nodiscard]] std::string outcome_of(const std::string& method, const Result<Json>& reply);

// BufferedReply: the answer to a call whose client was asked a question and has not come back yet.
//
// It is not read meanwhile, for minutes, and a server decides how long it is: so it takes room of
// its client's (waiting_room.h), with what its server said beside it. Where there is none, an error
// that says so is kept in its place. On the loop.
class BufferedReply {
 public:
  // Null: nothing is bounded.
  explicit BufferedReply(std::shared_ptr<WaitingRoom> room) : room_(std::move(room)) {}

  // `refusal`: the error of its server, where there was one; it goes where there is no room.
  void keep(gate::Answer given, std::optional<ipc::ErrorObject>& refusal);
  // Leaves the room: the taker sends it.
  [[nodiscard]] std::optional<gate::Answer> take();
  // It will not be taken, nor one that comes later.
  void close();

 private:
  std::shared_ptr<WaitingRoom> room_;
  WaitingRoom::Hold seat_;
  std::optional<gate::Answer> answer_;
  bool closed_ = false;
};

class McpSession;

class CallOfClient final : public gate::Caller, public std::enable_shared_from_this<CallOfClient> {
 public:
  // `digest`: of tool and arguments; empty where the client is asked nothing to come back with.
  // `client`: the id of the client's run. `questions` may be null:
  // then servers ask nothing. `room`: where an answer waits that comes while the client is away.
  CallOfClient(std::string digest, std::string client, std::shared_ptr<ServerQuestions> questions,
               std::shared_ptr<WaitingRoom> room)
      : digest_(std::move(digest)),
        client_(std::move(client)),
        questions_(std::move(questions)),
        kept_(std::move(room)) {}

  // Reservation of its memory, until it is answered.
  void sits(CallRoom::Seat seat) { seat_ = std::move(seat); }
  // Of the replies that a client comes back with, which its server gets beside the arguments.
  [[nodiscard]] bool makes_room_for(std::size_t replies) { return seat_.makes_room_for(replies); }

  // From here on it belongs to this request of this session.
  void belongs_to(const std::shared_ptr<McpSession>& session, const ipc::Id& id,
                  const RequestContext& context);
  // To no request, until the client comes back.
  void belongs_to_nobody() { session_.reset(); }

  // The client's request, in its own words.
  void is_about(CallForm form, std::string asked_for) {
    form_ = form;
    asked_for_ = std::move(asked_for);
  }
  // Replies that came with the request, to what its server will ask: never to what mcpac asks.
  void brings(Json replies) { brought_ = std::move(replies); }

  void answered(gate::Answer given);
  // What came while it belonged to no request.
  [[nodiscard]] std::optional<gate::Answer> take_kept() { return kept_.take(); }

  [[nodiscard]] gate::Gate::CallId gate_id() const { return gate_id_; }
  void set_gate_id(gate::Gate::CallId id) { gate_id_ = id; }
  // Of a call that is none of the gate's (code_mode/own_tools.h): how it is taken back.
  void taken_back_by(std::function<void()> stop) { stop_ = std::move(stop); }
  // The client lost interest; the answer still comes, if it has not yet.
  void take_back(gate::Gate& gate);
  [[nodiscard]] const std::string& digest() const { return digest_; }

  [[nodiscard]] CallForm form() const { return form_; }
  [[nodiscard]] const std::string& asked_for() const { return asked_for_; }
  [[nodiscard]] Era era() const { return context_.era; }
  // The error of the protocol that its server answered with.
  [[nodiscard]] const std::optional<ipc::ErrorObject>& refusal() const { return refusal_; }

  [[nodiscard]] std::string client() const override { return client_; }
  void progress(Json report) override;
  [[nodiscard]] bool answers(const std::string& method) const override;
  [[nodiscard]] std::string log_level() const override;
  void logged(const std::string& server, const Json& params) override;
  void refused(const ipc::ErrorObject& error) override { refusal_ = error; }
  // Both are about the request that it belongs to now.
  void decided(const gate::Check& check) override;
  [[nodiscard]] Json request_meta() const override;
  void ask(const std::string& method, Json params, Replied done) override;
  void ask_all(const std::string& server, Json questions, Replied done) override;
  void ask_for(const std::string& server, const std::string& method, Json params,
               Replied done) override;

 private:
  // Several questions to a client that gets them one by one.
  struct Asking {
    std::vector<std::pair<std::string, Json>> left;  // the next one last
    Json replies = Json::object();
    Replied done;
  };
  void ask_next(const std::shared_ptr<Asking>& asking);
  // `done`, and its record; null: these questions cannot be recorded, or are too many.
  [[nodiscard]] Replied recorded(const std::string& server, const Json& questions, Replied done);
  [[nodiscard]] std::shared_ptr<McpSession> live() const;

  std::string digest_;
  std::string client_;
  std::shared_ptr<ServerQuestions> questions_;
  std::size_t asked_ = 0;
  gate::Gate::CallId gate_id_ = 0;
  std::function<void()> stop_;
  std::weak_ptr<McpSession> session_;
  ipc::Id id_;
  RequestContext context_;
  CallRoom::Seat seat_;
  BufferedReply kept_;
  CallForm form_ = CallForm::kTool;
  std::string asked_for_;
  Json brought_;
  std::optional<ipc::ErrorObject> refusal_;
  std::size_t logs_ = 0;
  std::size_t logged_bytes_ = 0;
  std::size_t reports_ = 0;
  std::size_t reported_bytes_ = 0;
};

}  // namespace mcpac::gateway
