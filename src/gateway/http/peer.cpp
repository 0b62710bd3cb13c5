#include "gateway/http/peer.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <tuple>
#include <utility>
#include <variant>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include "gate/agent_message.h"
#include "gateway/http/agreement.h"
#include "gateway/request_context.h"

namespace mcpac::gateway::http {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace {

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr unsigned kHttp11 = 11;
// Beside a head: what is read of a body in one go. More is buffered of nothing, whatever the
// extensions of a chunk say.
constexpr std::size_t kReadAhead = std::size_t{128} << 10U;
constexpr auto kLeaveTime = std::chrono::seconds(1);

// What the head of a request that cannot be parsed is answered with.
Refusal refusal_of(const boost::system::error_code& error) {
  if (error == beast::http::error::header_limit) return {431, "the head is too large"};
  if (error == beast::http::error::body_limit) return {413, "the body is too large"};
  return {400, "this is no HTTP request"};
}

bool is_of_http(const boost::system::error_code& error) {
  return error.category() == make_error_code(beast::http::error::bad_method).category() &&
         error != beast::http::error::end_of_stream && error != beast::http::error::partial_message;
}

}  // namespace

Peer::Peer(std::shared_ptr<HttpDoor> door, asio::ip::tcp::socket socket, std::uint64_t turn)
    : door_(std::move(door)),
      stream_(std::move(socket)),
      buffer_(door_->setup_.limits.max_head + kReadAhead),
      wake_(stream_.get_executor()),
      turn_(turn) {
  boost::system::error_code ignored;
  stream_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
}

void Peer::start() {
  asio::co_spawn(stream_.get_executor(), serve(),
                 [self = shared_from_this()](const std::exception_ptr&) {
                   self->close();
                   self->door_->peers_.erase(self);
                 });
}

void Peer::finish() {
  if (current_) current_->session().finish();
}

void Peer::close() {
  gone_ = true;
  stream_.close();
  wake_.cancel();
}

asio::awaitable<void> Peer::serve() {
  // g++ 12 makes an endless loop of a co_await in the condition of an empty one.
  for (bool more = true; more && !gone_;) more = co_await serve_one();
  if (!gone_) co_await leave();
}

// What the client is still sending is read away for a moment: a connection that is closed over
// unread bytes is reset, and the answer lost.
asio::awaitable<void> Peer::leave() {
  constexpr std::size_t kMost = std::size_t{1} << 20U;
  boost::system::error_code ignored;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  stream_.expires_after(kLeaveTime);
  std::array<char, 16'384> away{};
  for (std::size_t read = 0; read < kMost && !gone_;) {
    auto [error, size] = co_await stream_.async_read_some(asio::buffer(away), kAwait);
    if (error) co_return;
    read += size;
  }
}

asio::awaitable<bool> Peer::serve_one() {
  Parser parser;
  idle_ = true;
  if (!co_await read_head(parser)) co_return false;
  idle_ = false;
  const Head head = parser.get();  // as it is now: what a trailer says later counts for nothing
  if (auto refusal = refuse_head(head, door_->port_))
    co_return co_await turn_away(std::move(*refusal));
  const std::string_view target(head.target().data(), head.target().size());
  if (target == kHealth && head.method() == beast::http::verb::get) {
    keep_alive_ = false;
    co_return co_await answer_empty(door_->finishing_ ? 503 : 200);
  }
  const auto token = bearer(head);
  if (!token) co_return co_await turn_away({401, "a bearer token is wanted"});
  auto guest = door_->setup_.admit(*token);
  if (!guest) co_return co_await turn_away(std::move(guest.error()));
  has_shown_token_ = true;
  if (door_->finishing_) co_return co_await turn_away({503, "mcpac is shutting down"});
  if (target != kEndpoint) co_return co_await turn_away({404, "there is nothing here but /mcp"});
  if (!co_await read_body(parser)) co_return false;
  keep_alive_ = parser.get().keep_alive();
  const bool whole = co_await route(*guest, head, parser.get().body());
  co_return whole&& keep_alive_ && !door_->finishing_;
}

asio::awaitable<bool> Peer::read_head(Parser& parser) {
  const HttpLimits& limits = door_->setup_.limits;
  parser.header_limit(static_cast<std::uint32_t>(limits.max_head));
  parser.body_limit(limits.max_body);
  stream_.expires_after(has_shown_token_ ? limits.idle_time : limits.head_time);
  // The clock of a head that has begun does not begin anew with each byte: one deadline for all.
  auto [error, size] = co_await beast::http::async_read_header(stream_, buffer_, parser, kAwait);
  if (!error) co_return true;
  if (is_of_http(error)) co_await turn_away(refusal_of(error));
  co_return false;
}

asio::awaitable<bool> Peer::read_body(Parser& parser) {
  if (field(parser.get(), "Expect") == "100-continue") {
    beast::http::response<beast::http::empty_body> go_on(beast::http::status::continue_, kHttp11);
    stream_.expires_after(door_->setup_.limits.write_time);
    auto [unsent, sent] = co_await beast::http::async_write(stream_, go_on, kAwait);
    if (unsent) co_return false;
  }
  stream_.expires_after(door_->setup_.limits.body_time);
  auto [error, size] = co_await beast::http::async_read(stream_, buffer_, parser, kAwait);
  if (!error) co_return true;
  if (is_of_http(error)) co_await turn_away(refusal_of(error));
  co_return false;
}

asio::awaitable<bool> Peer::route(const Guest& guest, const Head& head, const std::string& body) {
  switch (head.method()) {
    case beast::http::verb::post: co_return co_await post(guest, head, body);
    case beast::http::verb::get: co_return co_await get(guest, head);
    case beast::http::verb::delete_: co_return co_await remove(guest, head);
    default: co_return co_await refuse({405, "POST, GET and DELETE are spoken here"});
  }
}

asio::awaitable<bool> Peer::post(const Guest& guest, const Head& head, const std::string& body) {
  if (auto refusal = refuse_post(head)) co_return co_await refuse(std::move(*refusal));
  auto message = gate::decode_message(body, {.max_bytes = door_->setup_.limits.max_body});
  if (!message) {
    guest.run->anomalies().note("a malformed message of a client", message.error().message);
    co_return co_await refuse({400, message.error().message}, message.error().code,
                              message.error().id);
  }
  if (const auto* one = std::get_if<ipc::Request>(&*message);
      one != nullptr && ClientSession::is_too_long(one->id))
    co_return co_await refuse({400, "the id is too long"});
  if (era_of(head, *message) == HttpEra::kStateless)
    co_return co_await post_stateless(guest, head, std::move(*message));
  const auto* request = std::get_if<ipc::Request>(&*message);
  if (request != nullptr && request->method == "initialize")
    co_return co_await post_initialize(guest, std::move(*message));
  const std::string_view id = field(head, "Mcp-Session-Id");
  if (id.empty()) co_return co_await refuse({400, "Mcp-Session-Id is missing"});
  const auto conversation = door_->find_session(guest, id);
  if (!conversation) co_return co_await refuse({404, "there is no such session"});
  const std::string_view version = field(head, "MCP-Protocol-Version");
  if (!version.empty() && version != conversation->session().version())
    co_return co_await refuse({400, "MCP-Protocol-Version is not what initialize agreed on"});
  co_return co_await post_in_session(*conversation, std::move(*message));
}

asio::awaitable<bool> Peer::post_stateless(const Guest& guest, const Head& head,
                                           ipc::Message message) {
  const auto* request = std::get_if<ipc::Request>(&message);
  if (auto why = disagreement(head, message)) {
    std::optional<ipc::Id> id;
    if (request != nullptr) id = request->id;
    co_return co_await refuse({400, std::move(why->why)}, why->code, id);
  }
  const auto conversation = Conversation::begin(guest.run);
  if (request == nullptr) {
    conversation->session().receive(std::move(message));
    co_return co_await answer_empty(202);
  }
  const auto stream = conversation->open_stream(request->id);
  current_ = conversation;
  conversation->session().receive(std::move(message));
  Telling telling;
  telling.as_json = true;
  telling.stateless = true;
  const bool taken = co_await tell(stream, std::move(telling));
  current_.reset();
  // Without a session nobody can come back for it: what is still in work is taken back.
  conversation->close();
  co_return taken;
}

asio::awaitable<bool> Peer::post_initialize(const Guest& guest, ipc::Message message) {
  const auto conversation = Conversation::begin(guest.run);
  const auto stream = conversation->open_stream(std::get<ipc::Request>(message).id);
  conversation->session().receive(std::move(message));
  Telling telling;
  telling.as_json = true;
  if (conversation->session().is_initialized()) {
    telling.session_id = door_->add_session(guest, conversation);
    if (telling.session_id.empty())
      co_return co_await refuse({503, "all sessions of this client are in use"});
  }
  const bool taken = co_await tell(stream, std::move(telling));
  conversation->drop_stream(*stream);
  co_return taken;
}

asio::awaitable<bool> Peer::post_in_session(Conversation& conversation, ipc::Message message) {
  const auto keep = conversation.shared_from_this();
  const auto* request = std::get_if<ipc::Request>(&message);
  if (request == nullptr) {
    conversation.session().receive(std::move(message));
    co_return co_await answer_empty(202);
  }
  const auto stream = conversation.open_stream(request->id);
  if (!stream) {
    const std::optional<ipc::Id> id(request->id);
    co_return co_await refuse({400, "this id is still in flight, or too many answers wait"},
                              ipc::kInvalidRequest, id);
  }
  conversation.session().receive(std::move(message));
  Telling telling;
  telling.as_json = true;
  telling.with_ids = true;
  const bool taken = co_await tell(stream, std::move(telling));
  if (taken) conversation.drop_stream(*stream);
  co_return taken;
}

asio::awaitable<bool> Peer::get(const Guest& guest, const Head& head) {
  if (!accepts_events(head)) co_return co_await refuse({406, "a GET takes text/event-stream"});
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
  } else if (stream->has_reader()) {
    co_return co_await refuse({409, "somebody listens on this session already"});
  }
  const bool taken = co_await tell(stream, std::move(telling));
  if (taken && stream->is_answered()) conversation->drop_stream(*stream);
  co_return taken;
}

asio::awaitable<bool> Peer::remove(const Guest& guest, const Head& head) {
  const std::string_view id = field(head, "Mcp-Session-Id");
  if (id.empty()) co_return co_await refuse({405, "DELETE ends a session, and none is named"});
  if (!door_->find_session(guest, id)) co_return co_await refuse({404, "there is no such session"});
  door_->end_session(id);
  co_return co_await answer_empty(204);
}

// While a request is in work nothing is read; that the client has gone is told by its socket.
void Peer::watch() {
  if (buffer_.size() > 0 || std::exchange(watching_, true)) return;
  stream_.socket().async_wait(
      asio::ip::tcp::socket::wait_read,
      [weak = weak_from_this()](const boost::system::error_code& error) {
        const auto self = weak.lock();
        if (!self) return;
        self->watching_ = false;
        if (error) return;
        char byte = 0;
        const auto got =
            ::recv(self->stream_.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        const bool is_there = got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK));
        if (is_there) return;  // its next request already
        self->gone_ = true;
        self->wake_.cancel();
      });
}

}  // namespace mcpac::gateway::http
