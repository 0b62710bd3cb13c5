// SPDX-License-Identifier: Apache-2.0

// The receiving half of Session: what comes in, and what the server asks.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "core/call_arguments.h"
#include "core/printable.h"
#include "mcp/answers_under_way.h"
#include "mcp/session.h"

namespace mcpac::mcp {
namespace asio = boost::asio;
namespace {

// Three of 73 real servers print a banner; one that prints this much does not speak MCP.
constexpr std::size_t kMaxJunkLines = 10'000;

// Our ids are numbers. Some servers answer with the digits of one as a text, which the official
// SDKs take for the number, too.
std::optional<std::int64_t> number_of(const ipc::Id& id) {
  if (const auto* number = std::get_if<std::int64_t>(&id)) return *number;
  const auto& text = std::get<std::string>(id);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_exact = error == std::errc() && std::to_string(number) == text;
  return is_exact ? std::optional(number) : std::nullopt;
}

// The member of its result that holds the entries; empty where it lists nothing.
std::string_view list_in(std::string_view method) {
  if (method == "tools/list") return "tools";
  if (method == "prompts/list") return "prompts";
  if (method == "resources/list") return "resources";
  return method == "resources/templates/list" ? "resourceTemplates" : "";
}

}  // namespace

void Session::receive(std::string_view line, std::optional<std::int64_t> carrier) {
  const auto self = shared_from_this();  // a callback may drop the client
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
  auto message = ipc::decode_finite(line);
  if (!message) return receive_junk(line, message.error());
  last_junk_.clear();  // it speaks on: a banner is not why it ends
  if (auto* response = std::get_if<ipc::Response>(&*message)) {
    receive_response(std::move(*response), line);
  } else if (auto* request = std::get_if<ipc::Request>(&*message)) {
    receive_request(std::move(*request), line.size(), carrier);
  } else {
    receive_notification(std::get<ipc::Notification>(*message), carrier);
  }
}

void Session::receive_response(ipc::Response response, std::string_view line) {
  // An answer without an id, or with one that is not waited for any more, is dropped.
  const auto id = response.id ? number_of(*response.id) : std::nullopt;
  if (!id) return;
  const auto found = pending_.find(*id);
  if (found == pending_.end() || found->second->outcome) return;
  settle(*id, make_reply(*found->second, response, line));
}

Result<Reply> Session::make_reply(const Pending& pending, ipc::Response& response,
                                  std::string_view line) const {
  const auto redacted = [&](ipc::ErrorObject refusal) {
    refusal.message = secrets_->redact(refusal.message);
    secrets_->redact(refusal.data);
    return refusal;
  };
  if (!response.outcome && pending.options.events->refused)
    pending.options.events->refused(redacted(response.outcome.error()));
  if (!response.outcome && pending.options.keeps_errors) {
    ipc::ErrorObject refusal = redacted(std::move(response.outcome.error()));
    return Reply{.result = {}, .refusal = std::move(refusal), .size = line.size()};
  }
  if (!response.outcome) {
    return std::unexpected(secrets_->redact(rpc_error(pending.method, response.outcome.error())));
  }
  Reply reply{.result = std::move(*response.outcome), .ordered = {}, .size = line.size()};
  if (!reply.result.is_object()) {
    return failure(ErrorId::kServerProtocol,
                   fmt::format("server {} answered {} with a result that is no object", server_,
                               pending.method));
  }
  secrets_->redact(reply.result);
  if (pending.options.keeps_order) {
    auto ordered = parse_ordered_json(line);
    if (!ordered) ordered = parse_ordered_json(with_finite_numbers(line));
    if (!ordered) return pass_on(ordered);
    reply.ordered = std::move((*ordered)["result"]);
    secrets_->redact(reply.ordered);
  }
  return reply;
}

void Session::receive_request(ipc::Request request, std::size_t size,
                              std::optional<std::int64_t> carrier) {
  if (request.method == "ping") {
    return transport_->send({.line = ipc::encode_result(request.id, Json::object())});
  }
  const auto capability = capability_of(request.method);
  const bool declared = !capability.empty() && capabilities().contains(capability);
  Answerer who = declared && !stateless_ ? answer_for(carrier) : Answerer();
  if (!who.answer || !asked_.add(who.client, size)) {
    return transport_->send(
        {.line = ipc::encode_error(request.id, ipc::kMethodNotFound,
                                   "mcpac does not offer " + printable(request.method, 100))});
  }
  asio::co_spawn(executor_, answer(std::move(request), size, std::move(who)), asio::detached);
}

Session::Answerer Session::answer_for(std::optional<std::int64_t> carrier) const {
  const auto carried = carrier ? pending_.find(*carrier) : pending_.end();
  if (carried != pending_.end() && carried->second->options.events->answer) {
    const CallEvents& events = *carried->second->options.events;
    return {events.answer, events.client};
  }
  // Over stdio nothing says which call a question belongs to, unless there is only one. It may be
  // about one that has ended, which must have been the same client's.
  if (serves_several_ || carrier) return {events_.answer};
  const CallEvents* only = nullptr;
  for (const auto& [number, pending] : pending_) {
    if (!pending->options.events->answer || pending->outcome) continue;
    if (only != nullptr) return {events_.answer};
    only = pending->options.events.get();
  }
  if (only == nullptr) return {events_.answer};
  return {only->answer, only->client};
}

asio::awaitable<void> Session::answer(ipc::Request request, std::size_t size, Answerer who) {
  const auto self = shared_from_this();
  Json params = request.params.is_null() ? Json::object() : std::move(request.params);
  secrets_->redact(params);
  auto answered = co_await who.answer(request.method, params);
  asked_.remove(who.client, size);
  if (death_) co_return;
  if (!answered) {
    transport_->send({.line = ipc::encode_error(request.id, ipc::kInternalError,
                                                "the client could not answer")});
    co_return;
  }
  if (request.method == "elicitation/create") *answered = with_defaults(*answered, params);
  Outgoing said{.line = ipc::encode_result(request.id, *answered)};
  if (said.line.size() > AnswersUnderWay::kShort)
    said.shorter = ipc::encode_error(request.id, ipc::kInternalError,
                                     "the answer is too long while others are under way");
  transport_->send(std::move(said));
}

void Session::receive_notification(const ipc::Notification& notification,
                                   std::optional<std::int64_t> carrier) {
  if (notification.method == "notifications/progress") {
    receive_progress(notification.params);
  } else if (notification.method == "notifications/tools/list_changed") {
    if (events_.tools_changed) events_.tools_changed();
  } else if (notification.method == "notifications/message") {
    receive_log(notification.params, carrier);
  } else if (events_.notified) {
    Json params = notification.params;
    secrets_->redact(params);
    events_.notified(notification.method, params);
  }
}

void Session::receive_log(const Json& params, std::optional<std::int64_t> carrier) {
  const auto call = logging_call(carrier);
  if (!call && (carrier || !events_.notified)) return;
  Json message = params;
  secrets_->redact(message);
  if (call) return call->options.events->logged(message);
  events_.notified("notifications/message", message);
}

std::shared_ptr<Session::Pending> Session::logging_call(std::optional<std::int64_t> carrier) const {
  const auto hears = [](const auto& pending) {
    return pending->options.events->logged && !pending->outcome;
  };
  if (carrier) {
    const auto found = pending_.find(*carrier);
    return found != pending_.end() && hears(found->second) ? found->second : nullptr;
  }
  // Over stdio nothing says which call it is about; it may be one of another client.
  if (serves_several_) return nullptr;
  std::shared_ptr<Pending> only;
  for (const auto& [id, pending] : pending_) {
    if (!hears(pending)) continue;
    if (only) return nullptr;
    only = pending;
  }
  return only;
}

void Session::receive_progress(const Json& params) {
  const Json* token = find_member(params, "progressToken");
  if (token == nullptr || !token->is_number_integer()) return;
  const auto found = pending_.find(token->get<std::int64_t>());
  if (found == pending_.end() || !found->second->options.wants_progress) return;
  Pending& pending = *found->second;
  pending.deadline =
      std::min(std::chrono::steady_clock::now() + pending.timeout, pending.last_deadline);
  if (pending.timer) pending.timer->cancel();
  if (!pending.options.events->heard) return;
  Json report = params;
  report.erase("progressToken");
  report.erase("_meta");
  secrets_->redact(report);
  const auto keep = found->second;  // the callback may end the request
  keep->options.events->heard(report);
}

// The request that an unreadable line seems to answer, so that its caller does not wait for the
// time limit. Only a guess, and it may be: a server can fail its own requests anyway.
std::optional<std::int64_t> Session::meant_request(std::string_view line) const {
  constexpr std::size_t kLooked = 512;  // at either end, where the id of a message stands
  const bool may_be_message = line.starts_with('{') || line.starts_with('[');  // or a batch
  if (!may_be_message || !line.contains("\"jsonrpc\"")) return std::nullopt;
  const std::string_view head = line.substr(0, kLooked);
  const std::string_view tail = line.substr(line.size() - std::min(line.size(), kLooked));
  const auto names = [](std::string_view text, const std::string& member) {
    const auto at = text.find(member);
    if (at == std::string_view::npos) return false;
    const auto after = text.substr(at + member.size());
    return after.starts_with(',') || after.starts_with('}') || after.starts_with(' ');
  };
  for (const auto& [id, pending] : pending_) {
    for (const std::string& member :
         {fmt::format("\"id\":{}", id), fmt::format("\"id\": {}", id)}) {
      if (names(head, member) || names(tail, member)) return id;
    }
  }
  return std::nullopt;
}

// A list is what can be read of it; other entries are left out.
bool Session::receive_readable(std::string_view line, const ipc::RpcError& error) {
  const auto id = error.is_response && error.id ? number_of(*error.id) : std::nullopt;
  const auto found = id ? pending_.find(*id) : pending_.end();
  if (found == pending_.end() || found->second->outcome) return false;
  const std::string_view list = list_in(found->second->method);
  if (list.empty()) return false;
  auto readable = ipc::without_unreadable(line, list);
  auto message = readable ? ipc::decode_finite(readable->line)
                          : std::expected<ipc::Message, ipc::RpcError>(std::unexpected(error));
  auto* response = message ? std::get_if<ipc::Response>(&*message) : nullptr;
  if (response == nullptr) return false;
  for (const auto& entry : readable->left_out) {
    if (!events_.warned) break;
    events_.warned(fmt::format("server {}: {} {} is left out: {}", server_,
                               found->second->method == "tools/list" ? "the tool" : "the entry",
                               entry.name.empty()
                                   ? "without a readable name"
                                   : "\"" + printable(secrets_->redact(entry.name), 100) + "\"",
                               printable(secrets_->redact(entry.why), 200)));
  }
  receive_response(std::move(*response), readable->line);
  return true;
}

void Session::receive_junk(std::string_view line, const ipc::RpcError& error) {
  if (receive_readable(line, error)) return;
  const auto named = error.is_response && error.id ? number_of(*error.id) : std::nullopt;
  const auto id = named ? named : meant_request(line);
  if (id && (named || !error.is_response)) {
    auto unreadable =
        failure(ErrorId::kServerProtocol,
                fmt::format("server {} answered with what cannot be read: {}", server_,
                            printable(secrets_->redact(error.message), 200)));
    const auto meant = pending_.find(*id);
    if (meant != pending_.end() && !meant->second->outcome)
      unreadable.error().why = take_junk(meant->second.get());
    return settle(*id, std::move(unreadable));
  }
  last_junk_ = printable(secrets_->redact(line), 200);  // all of it: a secret may be long
  if (junk_lines_ == 0) first_junk_ = last_junk_;
  for (const auto& [number, pending] : pending_) {
    if (pending->junk.empty() && !pending->outcome) pending->junk = last_junk_;
  }
  if (++junk_lines_ <= kMaxJunkLines) return;
  transport_->kill();
  end(failure(ErrorId::kServerProtocol,
              fmt::format("server {} wrote more than {} lines that are no JSON-RPC messages",
                          server_, kMaxJunkLines),
              "is this a program that speaks MCP on its standard output?")
          .error());
}

Error Session::rpc_error(const std::string& method, const ipc::ErrorObject& error) const {
  Error out{.id = ErrorId::kServerError,
            .what = fmt::format("server {} answered {} with error {}: {}", server_, method,
                                error.code, printable(secrets_->redact(error.message))),
            .where = "server " + server_,
            .why = "",
            .fix = ""};
  if (!error.data.is_null()) out.why = printable(secrets_->redact(mcpac::to_text(error.data)));
  return out;
}

}  // namespace mcpac::mcp
