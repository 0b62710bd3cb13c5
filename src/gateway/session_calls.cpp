// SPDX-License-Identifier: Apache-2.0

// The calls of a client: through the gate, and what a server may say to the client meanwhile.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "core/canonical_json.h"
#include "core/hash.h"
#include "gateway/call_answer.h"
#include "gateway/mcp_session.h"
#include "gateway/session_offers.h"

namespace mcpac::gateway {
namespace {

std::string digest_of(const std::string& tool, const Json& arguments) {
  return sha256_hex(canonical_json(Json{{"tool", tool}, {"arguments", arguments}}));
}

// Whether the client may come back to a call with an answer, or does: then it is known by its
// digest.
bool may_come_back(const ipc::Request& request, const RequestContext& context) {
  return context.era == Era::kStateless &&
         (!context.capabilities.empty() || request.params.contains("requestState"));
}

// Whether capabilities (what_it_answers) mean that a client answers such requests.
bool promise(const Json& capabilities, const std::string& method) {
  if (method == "sampling/createMessage") return capabilities.contains("sampling");
  if (method == "roots/list") return capabilities.contains("roots");
  return method == "elicitation/create" && capabilities.contains("elicitation");
}

// For requests to servers that are no calls: they have a client, which hears and answers nothing.
class NoCall final : public gate::Caller {
 public:
  explicit NoCall(std::string client) : client_(std::move(client)) {}
  [[nodiscard]] std::string client() const override { return client_; }

 private:
  std::string client_;
};

// Of a call that is refused whatever it asks for: the span of its request hears so, at once.
class Unoffered final : public gate::Caller {
 public:
  // Borrowed.
  Unoffered(tracing::SessionSpans& spans, const ipc::Id& request)
      : spans_(spans), request_(request) {}
  void decided(const gate::Check& check) override { spans_.decided(request_, check); }

 private:
  tracing::SessionSpans& spans_;
  const ipc::Id& request_;
};

// Whether there is a reply, an object, to each of these questions.
bool answers_all(const Json* replies, const std::vector<std::string>& names) {
  return replies != nullptr && replies->is_object() &&
         std::ranges::all_of(names, [&](const std::string& name) {
           const auto reply = replies->find(name);
           return reply != replies->end() && reply->is_object();
         });
}

}  // namespace

void McpSession::call_tool(const ipc::Request& request, const RequestContext& context) {
  const Json* name = find_member(request.params, "name");
  if (name == nullptr || !name->is_string())
    return say_error(request.id, ipc::kInvalidParams, "params.name must be the name of a tool");
  const auto& called = name->get_ref<const std::string&>();
  const Json* arguments = find_member(request.params, "arguments");
  gate::CallRequest call{.permission = called,
                         .arguments = arguments == nullptr ? Json::object() : *arguments};
  if (setup_.own != nullptr && setup_.own->has(called))
    return call_own(request, context, called, call.arguments);
  const bool is_shown = setup_.own == nullptr || !setup_.own->are_alone();
  const Permission* tool = is_shown ? setup_.catalog->find(called) : nullptr;
  if (tool == nullptr) {
    // Though it may be the name of a tool here: what is answered as unknown is not done.
    return refuse_unoffered(request.id, std::move(call), unknown_tool(called));
  }
  call.permission = tool->text();
  spans_.calls(request.id, call.permission);
  make_call(request, context, std::move(call), {});
}

void McpSession::make_call(const ipc::Request& request, const RequestContext& context,
                           gate::CallRequest call, Wanted wanted) {
  std::string digest;
  if (may_come_back(request, context)) digest = digest_of(call.permission, call.arguments);
  if (context.era == Era::kStateless && request.params.contains("requestState"))
    return come_back(request, context, digest);
  auto seat = setup_.calls->take(request.weight);
  if (!seat) return say_refusal(request.id, context.era, wanted, seat.error());
  const auto made = std::make_shared<CallOfClient>(std::move(digest), setup_.client,
                                                   setup_.questions, setup_.room);
  made->sits(std::move(*seat));
  made->is_about(wanted.form, std::move(wanted.name));
  made->belongs_to(shared_from_this(), request.id, context);
  const Json* brought = find_member(request.params, "inputResponses");
  if (context.era == Era::kStateless && brought != nullptr) made->brings(*brought);
  offers_->want_level(context.log_level);
  calls_.emplace(request.id, Call{made});
  call.caller = made;
  made->set_gate_id(setup_.gate->call(
      std::move(call), [made](gate::Answer given) { made->answered(std::move(given)); }));
}

// The gate refuses it and records by which name; the client hears what it hears of any name.
void McpSession::refuse_unoffered(const ipc::Id& id, gate::CallRequest call,
                                  const ipc::ErrorObject& error) {
  call.is_offered = false;
  call.caller = std::make_shared<Unoffered>(spans_, id);
  setup_.gate->call(std::move(call), [](const gate::Answer&) {});
  say_error(id, error);
}

// A tool of ours: none of the gate's business, but what its programs call is.
void McpSession::call_own(const ipc::Request& request, const RequestContext& context,
                          const std::string& name, const Json& arguments) {
  spans_.calls(request.id, name);
  std::string digest;
  if (may_come_back(request, context)) digest = digest_of(name, arguments);
  if (context.era == Era::kStateless && request.params.contains("requestState"))
    return come_back(request, context, digest);
  auto seat = setup_.calls->take(request.weight);
  if (!seat) return say_refusal(request.id, context.era, {}, seat.error());
  const auto made = std::make_shared<CallOfClient>(std::move(digest), setup_.client,
                                                   setup_.questions, setup_.room);
  made->sits(std::move(*seat));
  made->belongs_to(shared_from_this(), request.id, context);
  calls_.emplace(request.id, Call{made});
  setup_.own->call(name, arguments, made);
}

// The client was asked something, and makes its request once more, with the answer.
void McpSession::come_back(const ipc::Request& request, const RequestContext& context,
                           const std::string& digest) {
  const Json* brought = find_member(request.params, "inputResponses");
  std::shared_ptr<const CallOfClient> full;
  const auto is_whole = [&](const ParkedCall& parked) {
    if (!answers_all(brought, parked.questions)) return false;
    if (!parked.call->makes_room_for(request.weight)) full = parked.call;
    return !full;
  };
  auto parked =
      setup_.parked == nullptr
          ? std::nullopt
          : setup_.parked->take(string_member(request.params, "requestState"), digest, is_whole);
  // It stays, and the client may come once more.
  if (full)
    return say_refusal(request.id, context.era, {full->form(), full->asked_for()},
                       setup_.calls->too_much());
  if (!parked) {
    setup_.anomalies->note("a requestState that is none, is over, or is of another call");
    return say_error(request.id, ipc::kInvalidParams,
                     "requestState and inputResponses are not what this call was asked for");
  }
  const auto call = parked->call;
  call->belongs_to(shared_from_this(), request.id, context);
  calls_.emplace(request.id, Call{call});
  if (auto kept = call->take_kept()) return call->answered(std::move(*kept));
  Json replies = Json::object();
  for (const std::string& name : parked->questions) replies[name] = brought->at(name);
  parked->reply(std::move(replies));
}

std::shared_ptr<gate::Caller> McpSession::caller_of_nothing() const {
  return std::make_shared<NoCall>(setup_.client);
}

void McpSession::answered(const ipc::Id& id, const CallOfClient& call, gate::Answer given) {
  const auto node = calls_.extract(id);
  std::erase_if(asked_, [&](const auto& asked) { return asked.second.about == id; });
  if (node.empty()) return;
  if (node.mapped().is_taken_back) return say_nothing(id);
  const Era era = call.era();
  if (given) {
    Json result = without_our_name(std::move(*given));
    if (call.form() == CallForm::kResource) result = cacheable_resource(era, std::move(result));
    return say_result(id, complete_in_form(era, std::move(result)));
  }
  const gate::CallError& error = given.error();
  const auto& refusal = call.refusal();
  const bool is_the_servers = refusal && error.kind == gate::ErrorKind::kTransport;
  if (is_the_servers && (call.form() != CallForm::kTool || refusal->code == kMissingCapability))
    return say_error(id, without_our_name(*refusal));
  say_refusal(id, era, {call.form(), call.asked_for()}, error);
}

void McpSession::say_refusal(const ipc::Id& id, Era era, const Wanted& wanted,
                             const gate::CallError& error) {
  if (wanted.form != CallForm::kTool)
    return say_error(id, error_of(wanted.form, wanted.name, error));
  if (!is_protocol_error(error)) return say_result(id, in_form(era, error_result(error)));
  say_error(id, ipc::ErrorObject{gate::rpc_code(error.kind), error.message, nullptr});
}

void McpSession::forget(const ipc::Id& id) {
  if (stop_listening(id)) return say_nothing(id);
  if (offers_->forget(id)) return;
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;  // the answer may have crossed it
  found->second.is_taken_back = true;
  // A copy: the answer may come from inside, and takes the entry away.
  const auto call = found->second.call;
  call->take_back(*setup_.gate);
  drop_questions(id);
}

// A call that goes on until its program has ended asks nothing meanwhile.
void McpSession::drop_questions(const ipc::Id& about) {
  std::vector<Asked> dropped;
  std::erase_if(asked_, [&](auto& entry) {
    if (entry.second.about != about) return false;
    dropped.push_back(std::move(entry.second));
    return true;
  });
  for (const Asked& asked : dropped)
    asked.done(fail(ErrorId::kServerCancelled, "the client took its request back"));
}

void McpSession::input_ended() {
  if (closed_ || std::exchange(mute_, true)) return;
  const auto keep = shared_from_this();
  for (auto& [id, asked] : std::exchange(asked_, {}))
    asked.done(fail(ErrorId::kServerCancelled, "the client ended its input without an answer"));
}

void McpSession::close() {
  if (std::exchange(closed_, true)) return;
  for (const auto& [id, listening] : std::exchange(listens_, {})) offers_->end(listening);
  offers_->close();
  // Calls first: what ends as taken back is not recorded as a question without an answer.
  for (const auto& [id, call] : std::exchange(calls_, {})) call.call->take_back(*setup_.gate);
  std::exchange(asked_, {}).clear();
  spans_.cancel_all();
  if (const auto heard = std::exchange(setup_.on_closed, nullptr)) heard();
}

bool McpSession::client_answers(const std::string& method, const RequestContext& context) const {
  if (mute_) return false;
  if (context.era == Era::kInitialize) return promise(capabilities_, method);
  return setup_.parked != nullptr && promise(context.capabilities, method);
}

void McpSession::ask(const ipc::Id& about, const std::string& method, const Json& params,
                     gate::Caller::Replied done) {
  const std::string id = fmt::format("mcpac-{}", ++last_asked_);
  asked_.emplace(id, Asked{about, std::move(done)});
  if (closed_) return;
  setup_.say({.line = ipc::encode_request(id, method, params),
              .about = about,
              .is_needed = true,
              .question = id});
}

void McpSession::not_sent(const std::string& question) {
  const auto keep = shared_from_this();
  const auto node = asked_.extract(question);
  if (node.empty()) return;
  node.mapped().done(
      fail(ErrorId::kServerCancelled, "the client does not read, and was not asked"));
}

void McpSession::ask_by_result(const ipc::Id& about, Json questions, gate::Caller::Replied done) {
  const auto found = calls_.find(about);
  if (found == calls_.end() || found->second.is_taken_back) return;
  const auto call = found->second.call;
  std::vector<std::string> names;
  for (const auto& [question, asked] : questions.items()) names.push_back(question);
  const std::string name =
      setup_.parked->park({call, call->digest(), std::move(names), std::move(done)});
  if (name.empty()) return;  // the asker is released
  calls_.erase(found);
  call->belongs_to_nobody();
  Json result{{"resultType", "input_required"},
              {"inputRequests", std::move(questions)},
              {"requestState", name}};
  say_result(about, in_form(Era::kStateless, std::move(result)));
}

void McpSession::handle(ipc::Response response) {
  const auto* id = response.id ? std::get_if<std::string>(&*response.id) : nullptr;
  auto node = id == nullptr ? decltype(asked_)::node_type{} : asked_.extract(*id);
  if (node.empty()) return setup_.anomalies->note("a response, though nothing was asked");
  const auto& done = node.mapped().done;
  if (response.outcome) return done(std::move(*response.outcome));
  done(fail(ErrorId::kServerError, "the client answered with an error: " +
                                       gate::bounded(response.outcome.error().message, 1'000)));
}

}  // namespace mcpac::gateway
