// SPDX-License-Identifier: Apache-2.0

// Dispatch of a request whose head and body are read: a message for a session, or one that stands
// alone.
#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "gate/agent_message.h"
#include "gateway/http/head.h"
#include "gateway/http/peer.h"
#include "gateway/request_context.h"
#include "ipc/json_rpc.h"
#include "mcp/protocol.h"

namespace mcpac::gateway::http {
namespace {

// Agreement: headers that repeat what the body says must say the same.
//
// Proxies and firewalls decide by Mcp-Method and Mcp-Name without reading bodies; a request whose
// headers say another thing than its body would be decided by one and carried out by the other
// (revision 2026-07-28). Pure.
enum class HttpEra : std::uint8_t { kInitialize, kStateless };

// By the body's `_meta`, or else by the header MCP-Protocol-Version.
[[nodiscard]] HttpEra era_of(const Head& head, const ipc::Message& message);

// What of a stateless request is not so, and the number of that error; nothing: all agrees, and
// `_meta` has what it must have.
struct Disagreement {
  std::int64_t code = kHeaderMismatch;
  std::string why;
};
[[nodiscard]] std::optional<Disagreement> disagreement(const Head& head,
                                                       const ipc::Message& message);

// "=?base64?…?=" as text; plain text as it is; nothing for what is neither.
[[nodiscard]] std::optional<std::string> decode_header_value(std::string_view value);

struct Said {
  std::string_view method;
  const Json* params = nullptr;
};

Said said_by(const ipc::Message& message) {
  if (const auto* request = std::get_if<ipc::Request>(&message))
    return {request->method, &request->params};
  if (const auto* notification = std::get_if<ipc::Notification>(&message))
    return {notification->method, &notification->params};
  return {};
}

// The member that Mcp-Name repeats; empty where a method has none.
std::string_view named_by(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  return method == "resources/read" ? "uri" : "";
}

std::optional<std::string> differs(const Head& head, std::string_view header,
                                   std::string_view expected) {
  if (head.count(header) == 0) return fmt::format("the header {} is missing", header);
  const auto value = decode_header_value(field(head, header));
  if (!value) return fmt::format("the header {} cannot be read", header);
  if (*value != expected) return fmt::format("the header {} differs from the body", header);
  return std::nullopt;
}

std::optional<std::string> decode_header_value(std::string_view value) {
  constexpr std::string_view kBegin = "=?base64?";
  constexpr std::string_view kEnd = "?=";
  if (!value.starts_with(kBegin) || !value.ends_with(kEnd) ||
      value.size() < kBegin.size() + kEnd.size()) {
    const bool plain =
        std::ranges::all_of(value, [](char c) { return (c >= 0x20 && c < 0x7f) || c == '\t'; });
    return plain ? std::optional(std::string(value)) : std::nullopt;
  }
  value.remove_prefix(kBegin.size());
  value.remove_suffix(kEnd.size());
  std::string text(value.size(), '\0');
  std::size_t size = 0;
  const char* end = nullptr;
  const int failed =
      sodium_base642bin(reinterpret_cast<unsigned char*>(text.data()), text.size(), value.data(),
                        value.size(), nullptr, &size, &end, sodium_base64_VARIANT_ORIGINAL);
  if (failed != 0 || end != value.data() + value.size()) return std::nullopt;
  text.resize(size);
  return text;
}

HttpEra era_of(const Head& head, const ipc::Message& message) {
  const auto said = said_by(message);
  if (said.params != nullptr && version_in(*said.params)) return HttpEra::kStateless;
  const std::string_view version = field(head, "MCP-Protocol-Version");
  const bool is_older = version.empty() || mcp::is_initialize_version(version);
  return is_older || field(head, "Mcp-Session-Id") != "" || said.method == "initialize"
             ? HttpEra::kInitialize
             : HttpEra::kStateless;
}

std::optional<std::string> header_that_differs(const Head& head, const ipc::Message& message) {
  const auto said = said_by(message);
  if (said.method.empty()) return "a client of this revision sends no responses";
  if (const auto version = version_in(*said.params)) {
    if (auto why = differs(head, "MCP-Protocol-Version", *version)) return why;
  }
  if (auto why = differs(head, "Mcp-Method", said.method)) return why;
  const std::string_view member = named_by(said.method);
  if (!std::holds_alternative<ipc::Request>(message) || member.empty()) return std::nullopt;
  return differs(head, "Mcp-Name", string_member(*said.params, member));
}

std::optional<Disagreement> disagreement(const Head& head, const ipc::Message& message) {
  if (auto why = header_that_differs(head, message))
    return Disagreement{kHeaderMismatch, std::move(*why)};
  const auto* request = std::get_if<ipc::Request>(&message);
  if (request == nullptr) return std::nullopt;
  if (!version_in(request->params))
    return Disagreement{ipc::kInvalidParams, "_meta must name the protocol version"};
  const auto context = read_context(request->params);
  if (context || context.error().code != ipc::kInvalidParams) return std::nullopt;
  return Disagreement{ipc::kInvalidParams, context.error().message};
}

}  // namespace

namespace asio = boost::asio;
namespace beast = boost::beast;

asio::awaitable<bool> Peer::route(const AdmittedClient& guest, const Head& head, std::string body) {
  switch (head.method()) {
    case beast::http::verb::post: co_return co_await post(guest, head, std::move(body));
    case beast::http::verb::get: co_return co_await get(guest, head);
    case beast::http::verb::delete_: co_return co_await remove(guest, head);
    default: co_return co_await refuse({405, "POST, GET and DELETE are spoken here"});
  }
}

asio::awaitable<void> Peer::rest() {
  using Clock = std::chrono::steady_clock;
  for (auto rest = door_->rest_of(guest_); rest > Clock::duration::zero() && !gone_;
       rest = door_->rest_of(guest_))
    static_cast<void>(co_await wake_.wait_until(Clock::now() + rest));
}

asio::awaitable<std::optional<BodyReader::Decoded>> Peer::decode(std::string body) {
  using Clock = std::chrono::steady_clock;
  const JsonLimits limits{.max_bytes = door_->setup_.limits.max_body};
  if (body.size() <= BodyReader::kShort) co_return gate::decode_message(body, limits);
  co_await rest();
  if (gone_) co_return std::nullopt;
  const auto slot = std::make_shared<std::optional<BodyReader::Decoded>>();
  door_->long_bodies_.read(share_.get(), std::move(body), limits,
                           [slot, weak = weak_from_this()](BodyReader::Decoded decoded) {
                             *slot = std::move(decoded);
                             if (const auto self = weak.lock()) self->wake_.ring();
                           });
  while (!*slot && !gone_) static_cast<void>(co_await wake_.wait_until(Clock::time_point::max()));
  // Those that came before it may have been read meanwhile, faster than they are worked on.
  co_await rest();
  if (gone_) co_return std::nullopt;
  co_return std::move(*slot);
}

void Peer::hand_in(HttpSession& conversation, ipc::Message message) {
  const auto begun = std::chrono::steady_clock::now();
  conversation.session().receive(std::move(message));
  door_->took(guest_, begun);
}

Peer::Telling Peer::telling_of(const Head& head) {
  const Accepted accepted = accepted_by(head);
  Telling telling;
  telling.as_json = accepted.json;
  telling.only_json = !accepted.events;
  return telling;
}

asio::awaitable<bool> Peer::post(const AdmittedClient& guest, const Head& head, std::string body) {
  if (auto refusal = refuse_post(head)) co_return co_await refuse(std::move(*refusal));
  const bool is_long = body.size() > BodyReader::kShort;
  auto decoded = co_await decode(std::move(body));
  if (!decoded) co_return false;
  if (is_long) look_at_ = {};  // waiting for its turn takes time
  if (is_long && is_over({})) co_return co_await turn_away(token_is_over());
  auto& message = *decoded;
  if (!message) {
    guest.run->anomalies().note("a malformed message of a client", message.error().message);
    co_return co_await refuse({400, message.error().message}, message.error().code,
                              McpSession::echoed_id(message.error()));
  }
  if (const auto* one = std::get_if<ipc::Request>(&*message);
      one != nullptr && McpSession::is_too_long(one->id))
    co_return co_await refuse({400, "the id is too long"});
  if (const auto* one = std::get_if<ipc::Request>(&*message); one != nullptr) {
    // Before the era, which `_meta` says.
    const Json* meta = find_member(one->params, "_meta");
    const std::optional<ipc::Id> id(one->id);
    if (meta != nullptr && !meta->is_object())
      co_return co_await refuse({400, "_meta must be an object"}, ipc::kInvalidParams, id);
  }
  if (era_of(head, *message) == HttpEra::kStateless)
    co_return co_await post_stateless(guest, head, std::move(*message));
  const auto* request = std::get_if<ipc::Request>(&*message);
  if (request != nullptr && request->method == "initialize")
    co_return co_await post_initialize(guest, telling_of(head), std::move(*message));
  const std::string_view id = field(head, "Mcp-Session-Id");
  if (id.empty())
    co_return co_await refuse({400,
                               "Mcp-Session-Id is missing: begin with initialize, or say in each "
                               "request MCP-Protocol-Version: 2026-07-28"});
  const auto conversation = door_->find_session(guest, id);
  if (!conversation) co_return co_await refuse({404, "there is no such session"});
  const std::string_view version = field(head, "MCP-Protocol-Version");
  if (!version.empty() && version != conversation->session().version())
    co_return co_await refuse({400, "MCP-Protocol-Version is not what initialize agreed on"});
  co_return co_await post_in_session(*conversation, telling_of(head), std::move(*message));
}

asio::awaitable<bool> Peer::post_stateless(const AdmittedClient& guest, const Head& head,
                                           ipc::Message message) {
  const auto* request = std::get_if<ipc::Request>(&message);
  if (auto why = disagreement(head, message)) {
    std::optional<ipc::Id> id;
    if (request != nullptr) id = request->id;
    co_return co_await refuse({400, std::move(why->why)}, why->code, id);
  }
  Telling telling = telling_of(head);
  if (request != nullptr && request->method == "subscriptions/listen" && telling.only_json)
    co_return co_await refuse({406, "subscriptions/listen is answered as text/event-stream"},
                              ipc::kInvalidRequest, std::optional<ipc::Id>(request->id));
  const auto conversation = HttpSession::begin(guest.run, share_);
  if (request == nullptr) {
    hand_in(*conversation, std::move(message));
    co_return co_await answer_empty(202);
  }
  const auto stream = conversation->open_stream(request->id);
  current_ = conversation;
  // A subscription waits for no answer: it is what the token was shown for.
  if (request->method != "subscriptions/listen") telling.grace = door_->setup_.limits.grace;
  hand_in(*conversation, std::move(message));
  telling.stateless = true;
  const bool taken = co_await tell(stream, std::move(telling));
  current_.reset();
  // Without a session no client can come back for it: what is still in work is taken back.
  conversation->close();
  co_return taken;
}

asio::awaitable<bool> Peer::post_initialize(const AdmittedClient& guest, Telling telling,
                                            ipc::Message message) {
  const auto conversation = HttpSession::begin(guest.run, share_);
  const auto stream = conversation->open_stream(std::get<ipc::Request>(message).id);
  hand_in(*conversation, std::move(message));
  telling.grace = door_->setup_.limits.grace;
  if (conversation->session().is_initialized()) {
    telling.session_id = door_->add_session(guest, conversation);
    if (telling.session_id.empty())
      co_return co_await refuse({503, "all sessions of this client are in use"});
  }
  const bool taken = co_await tell(stream, std::move(telling));
  conversation->drop_stream(*stream);
  co_return taken;
}

asio::awaitable<bool> Peer::post_in_session(HttpSession& conversation, Telling telling,
                                            ipc::Message message) {
  const auto keep = conversation.shared_from_this();
  const auto* request = std::get_if<ipc::Request>(&message);
  if (request == nullptr) {
    hand_in(conversation, std::move(message));
    co_return co_await answer_empty(202);
  }
  const auto stream = conversation.open_stream(request->id);
  if (!stream) {
    const std::optional<ipc::Id> id(request->id);
    co_return co_await refuse({400, "this id is still in flight, or too many answers wait"},
                              ipc::kInvalidRequest, id);
  }
  hand_in(conversation, std::move(message));
  telling.with_ids = true;
  telling.grace = door_->setup_.limits.grace;
  const bool taken = co_await tell(stream, std::move(telling));
  if (taken) conversation.drop_stream(*stream);
  co_return taken;
}

asio::awaitable<bool> Peer::get(const AdmittedClient& guest, const Head& head) {
  if (!accepted_by(head).events) co_return co_await refuse({406, "a GET takes text/event-stream"});
  const std::string_view id = field(head, "Mcp-Session-Id");
  if (id.empty()) co_return co_await refuse({405, "without a session there is nothing to hear"});
  const auto conversation = door_->find_session(guest, id);
  if (!conversation) co_return co_await refuse({404, "there is no such session"});
  auto stream = conversation->general();
  Telling telling;
  telling.from = stream->untaken();
  telling.with_ids = true;
  if (const auto last = field(head, "Last-Event-ID"); !last.empty()) {
    const auto seen = parse_event_id(last);
    stream = seen ? conversation->find_stream(seen->stream) : nullptr;
    const bool is_there = stream && seen->place < stream->next_place();
    telling.from = is_there ? seen->place + 1 : 0;
    if (!is_there || stream->is_lost(telling.from))
      co_return co_await refuse({400, "what followed this event is not kept any more"});
  }
  // Its reader before hears no more (EventStream): a connection whose network died is there until
  // TCP gives it up, a quarter of an hour, and would keep its own client out.
  const bool taken = co_await tell(stream, std::move(telling));
  if (taken && stream->is_answered()) conversation->drop_stream(*stream);
  co_return taken;
}

asio::awaitable<bool> Peer::remove(const AdmittedClient& guest, const Head& head) {
  const std::string_view id = field(head, "Mcp-Session-Id");
  if (id.empty()) co_return co_await refuse({405, "DELETE ends a session, and none is named"});
  if (!door_->find_session(guest, id)) co_return co_await refuse({404, "there is no such session"});
  door_->end_session(id);
  co_return co_await answer_empty(204);
}

}  // namespace mcpac::gateway::http
