// The calls of a client: through the gate, and what a server may say to the client meanwhile.
#include <fmt/format.h>

#include <utility>
#include <variant>

#include "gateway/call_answer.h"
#include "gateway/client_session.h"

namespace mcpac::gateway {

// Travels with one call. When the call has its answer it finds nobody any more.
class ClientSession::CallOfClient final : public gate::Caller {
 public:
  CallOfClient(std::weak_ptr<ClientSession> session, ipc::Id id, const RequestContext& context)
      : session_(std::move(session)),
        id_(std::move(id)),
        token_(context.progress_token),
        era_(context.era) {}

  void progress(Json report) override {
    const auto session = live();
    if (!session || token_.is_null()) return;
    report["progressToken"] = token_;
    session->say_about(id_, ipc::encode_notification("notifications/progress", report));
  }
  [[nodiscard]] bool answers(const std::string& method) const override {
    const auto session = live();
    return session && era_ == Era::kInitialize && session->client_answers(method);
  }
  void ask(const std::string& method, Json params, Replied done) override {
    if (const auto session = live()) session->ask(id_, method, params, std::move(done));
  }

 private:
  [[nodiscard]] std::shared_ptr<ClientSession> live() const {
    auto session = session_.lock();
    const bool is_over = !session || session->closed_ || !session->calls_.contains(id_);
    return is_over ? nullptr : session;
  }

  std::weak_ptr<ClientSession> session_;
  ipc::Id id_;
  Json token_;
  Era era_;
};

void ClientSession::call_tool(const ipc::Request& request, const RequestContext& context) {
  const Json* name = find_member(request.params, "name");
  if (name == nullptr || !name->is_string())
    return say_error(request.id, ipc::kInvalidParams, "params.name must be the name of a tool");
  if (calls_.size() >= setup_.limits.max_calls_in_flight) {
    return say_error(
        request.id, ipc::kInvalidRequest,
        fmt::format("more than {} calls in flight", setup_.limits.max_calls_in_flight));
  }
  const auto& called = name->get_ref<const std::string&>();
  const Json* arguments = find_member(request.params, "arguments");
  gate::CallRequest call{.permission = called,
                         .arguments = arguments == nullptr ? Json::object() : *arguments};
  const Permission* tool = setup_.catalog->find(called);
  if (tool == nullptr) {
    // The gate refuses it and records by which name; the client hears what it hears of any name.
    setup_.gate->call(std::move(call), [](const gate::Answer&) {});
    return say_error(request.id, unknown_tool(called));
  }
  call.permission = tool->text();
  call.caller = std::make_shared<CallOfClient>(weak_from_this(), request.id, context);
  calls_.emplace(request.id, Call{});
  const auto id = setup_.gate->call(std::move(call), [weak = weak_from_this(), id = request.id,
                                                      era = context.era](gate::Answer given) {
    if (const auto self = weak.lock()) self->answered(id, era, std::move(given));
  });
  // A refusal has been answered from inside call().
  if (const auto found = calls_.find(request.id); found != calls_.end()) found->second.id = id;
}

void ClientSession::answered(const ipc::Id& id, Era era, gate::Answer given) {
  const auto node = calls_.extract(id);
  std::erase_if(asked_, [&](const auto& asked) { return asked.second.about == id; });
  if (node.empty()) return;
  if (node.mapped().is_taken_back) return say_nothing(id);
  if (given) return say_result(id, in_form(era, std::move(*given)));
  if (!is_protocol_error(given.error()))
    return say_result(id, in_form(era, error_result(given.error())));
  const gate::CallError& error = given.error();
  say_error(id, ipc::ErrorObject{gate::rpc_code(error.kind), error.message, nullptr});
}

void ClientSession::forget(const ipc::Id& id) {
  if (listens_.erase(id) > 0) return say_nothing(id);
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;  // the answer may have crossed it
  found->second.is_taken_back = true;
  const auto call = found->second.id;
  if (call != 0) setup_.gate->cancel(call);
}

void ClientSession::close() {
  if (std::exchange(closed_, true)) return;
  asked_.clear();
  listens_.clear();
  for (const auto& [id, call] : std::exchange(calls_, {})) setup_.gate->cancel(call.id);
  if (const auto heard = std::exchange(setup_.on_closed, nullptr)) heard();
}

bool ClientSession::client_answers(const std::string& method) const {
  if (method != "elicitation/create") return false;
  const Json* elicitation = find_member(capabilities_, "elicitation");
  if (elicitation == nullptr || !elicitation->is_object()) return false;
  // Before 2025-11-25 there were forms alone, and an empty object means these still.
  return elicitation->empty() || elicitation->contains("form");
}

void ClientSession::ask(const ipc::Id& about, const std::string& method, const Json& params,
                        gate::Caller::Replied done) {
  const std::string id = fmt::format("mcpac-{}", ++last_asked_);
  asked_.emplace(id, Asked{about, std::move(done)});
  say_about(about, ipc::encode_request(id, method, params));
}

void ClientSession::handle(ipc::Response response) {
  const auto* id = response.id ? std::get_if<std::string>(&*response.id) : nullptr;
  auto node = id == nullptr ? decltype(asked_)::node_type{} : asked_.extract(*id);
  if (node.empty()) return setup_.anomalies->note("a response, though nothing was asked");
  const auto& done = node.mapped().done;
  if (response.outcome) return done(std::move(*response.outcome));
  done(fail(ErrorId::kServerError, "the client answered with an error: " +
                                       gate::bounded(response.outcome.error().message, 1'000)));
}

}  // namespace mcpac::gateway
