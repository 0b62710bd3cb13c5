// SPDX-License-Identifier: Apache-2.0

#include "gateway/http/peer.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <tuple>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/error.hpp>

#include "core/clock.h"
#include "gateway/http/answer_head.h"
#include "gateway/request_context.h"

namespace mcpac::gateway::http {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace {

// Beside a head: what is read of a body in one go. More is buffered of nothing, whatever the
// extensions of a chunk say.
constexpr std::size_t kReadAhead = std::size_t{128} << 10U;
// What is read where nothing tells how much follows: most requests as a whole. A connection that is
// idle keeps no more; one that waits for the rest of a request not much more than it has of that.
constexpr std::size_t kPiece = std::size_t{2} << 10U;
constexpr auto kLeaveTime = std::chrono::seconds(1);

// Answer to a request whose head cannot be parsed.
Refusal refusal_of(const boost::system::error_code& error) {
  if (error == beast::http::error::header_limit) return {431, "the head is too large"};
  if (error == beast::http::error::body_limit) return {413, "the body is too large"};
  if (error == beast::http::error::bad_obs_fold)
    return {400, "a header line begins with a blank: send each header in one line"};
  return {400, "this is no HTTP request"};
}

bool is_of_http(const boost::system::error_code& error) {
  return error.category() == make_error_code(beast::http::error::bad_method).category() &&
         error != beast::http::error::end_of_stream && error != beast::http::error::partial_message;
}

}  // namespace

Peer::Peer(std::shared_ptr<HttpDoor> door, asio::ip::tcp::socket socket, std::uint64_t turn)
    : door_(std::move(door)),
      stream_(std::move(socket), door_->setup_.tls, [this] { close(); }),
      buffer_(door_->setup_.limits.max_head + kReadAhead),
      wake_(stream_.get_executor()),
      turn_(turn) {}

Peer::~Peer() {
  if (share_) --share_->connections;
}

bool Peer::is_over(std::chrono::milliseconds grace) {
  const auto now = SystemClock().steady_now();
  if (!stands_ || now < look_at_) return false;
  look_at_ = now + door_->setup_.limits.look_again;
  return !stands_(grace);
}

bool Peer::belong_to(const AdmittedClient& guest) {
  auto share = door_->share_of(guest);
  if (share == share_) return true;
  if (share->connections >= door_->setup_.limits.max_client_connections &&
      !door_->make_room(share.get()))
    return false;
  if (share_) --share_->connections;
  share_ = std::move(share);
  guest_ = guest.name;
  ++share_->connections;
  return true;
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
  wake_.stop();
}

asio::awaitable<void> Peer::serve() {
  if (stream_.is_tls()) {
    stream_.expires_after(door_->setup_.limits.head_time);
    if (!co_await stream_.shake_hands()) co_return;
  }
  // g++ 12 makes an endless loop of a co_await in the condition of an empty one.
  for (bool more = true; more && !gone_;) more = co_await serve_one();
  if (!gone_) co_await leave();
}

// What the client is still sending is read away for a moment: a connection that is closed over
// unread bytes is reset, and the answer lost.
asio::awaitable<void> Peer::leave() {
  constexpr std::size_t kMost = std::size_t{1} << 20U;
  boost::system::error_code ignored;
  stream_.expires_after(kLeaveTime);
  co_await stream_.say_end();
  if (gone_) co_return;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  stream_.expires_after(kLeaveTime);
  std::array<char, 16'384> away{};
  for (std::size_t read = 0; read < kMost && !gone_;) {
    auto [error, size] = co_await stream_.socket().async_read_some(asio::buffer(away), kAwait);
    if (error) co_return;
    read += size;
  }
}

asio::awaitable<bool> Peer::serve_one() {
  Parser parser;
  idle_ = true;
  unread_ = false;
  if (!co_await read_head(parser)) co_return false;
  idle_ = false;
  // As it is now: what a trailer says later, which only chunks have, counts for nothing.
  const std::optional<Head> before_trailer =
      parser.chunked() ? std::optional<Head>(parser.get()) : std::nullopt;
  const Head& head = before_trailer ? *before_trailer : parser.get();
  if (auto refusal = refuse_head(head, door_->names_))
    co_return co_await turn_away(std::move(*refusal));
  has_chunks_ = head.version() >= 11;
  if (is_for_all(head)) {
    co_await answer_all(head);
    co_return false;
  }
  const auto token = bearer(head);
  if (!token) co_return co_await turn_away({401, "a bearer token is wanted"});
  auto guest = co_await door_->setup_.admit(std::string(*token));
  if (gone_) co_return false;
  if (!guest) co_return co_await turn_away(std::move(guest.error()));
  has_shown_token_ = true;
  if (!belong_to(*guest))
    co_return co_await turn_away({503, "this client has too many connections"});
  if (door_->finishing_) co_return co_await turn_away({503, "mcpac is shutting down"});
  if (!is_for_endpoint(head)) co_return co_await turn_away({404, "there is nothing here but /mcp"});
  const auto length = parser.content_length();
  const std::size_t most = door_->setup_.limits.max_body;
  const std::size_t expected =
      length ? static_cast<std::size_t>(std::min<std::uint64_t>(*length, most))
             : (parser.chunked() ? most : 0);
  auto room = co_await find_body_room(expected);
  if (!room || !co_await read_body(parser, *room)) co_return false;
  // A body takes its time, too.
  stands_ = guest->stands;
  look_at_ = {};
  if (is_over({})) co_return co_await turn_away(token_is_over());
  keep_alive_ = has_chunks_ && parser.get().keep_alive();
  const bool whole = co_await route(*guest, head, std::move(parser.get().body()));
  co_return whole&& keep_alive_ && !door_->finishing_;
}

bool Peer::is_for_all(const Head& head) const {
  const std::string_view target(head.target().data(), head.target().size());
  return head.method() == beast::http::verb::get &&
         (target == kHealth || door_->setup_.documents.contains(target));
}

// The connection ends behind it: a client without a token gets one answer, and what follows was no
// request where the head promised a body, which is not read here.
asio::awaitable<void> Peer::answer_all(const Head& head) {
  if (has_body(head)) {
    co_await turn_away({400, "what needs no token takes no body"});
    co_return;
  }
  keep_alive_ = false;
  const std::string_view target(head.target().data(), head.target().size());
  if (target == kHealth) {
    co_await answer_empty(door_->finishing_ ? 503 : 200);
    co_return;
  }
  const Document& document = door_->setup_.documents.find(target)->second;
  const std::string body = document.make();
  std::string answer = answer_head(200);
  add_header(answer, "Content-Type", document.type);
  co_await write(200, std::move(answer), body);
}

asio::awaitable<boost::system::error_code> Peer::read_piece(Parser& parser) {
  std::uint64_t left = kPiece;
  if (parser.is_header_done()) left = parser.content_length_remaining().value_or(kReadAhead);
  const auto size = static_cast<std::size_t>(std::clamp<std::uint64_t>(left, kPiece, kReadAhead));
  return ipc::read_piece(stream_, buffer_, parser, size);
}

asio::awaitable<bool> Peer::read_head(Parser& parser) {
  const HttpLimits& limits = door_->setup_.limits;
  parser.header_limit(static_cast<std::uint32_t>(limits.max_head));
  parser.body_limit(limits.max_body);
  // A client that sends requests ahead waits for the others all the same.
  if (buffer_.size() > 0) co_await asio::post(stream_.get_executor(), kAwait);
  ipc::give_back(buffer_, kPiece);
  const bool rests = has_shown_token_ && buffer_.size() == 0;
  stream_.expires_after(rests ? limits.idle_time : limits.head_time);
  boost::system::error_code error = co_await read_piece(parser);
  if (rests && !error && !parser.is_header_done()) stream_.expires_after(limits.head_time);
  // The clock of a head that has begun does not begin anew with each byte: one deadline for all.
  while (!error && !parser.is_header_done()) error = co_await read_piece(parser);
  stream_.expires_never();
  if (!error) co_return true;
  if (is_of_http(error)) co_await turn_away(refusal_of(error));
  co_return false;
}

asio::awaitable<std::optional<BodyRoom>> Peer::find_body_room(std::size_t bytes) {
  const auto until = std::chrono::steady_clock::now() + door_->setup_.limits.body_time;
  const auto share = share_;
  while (!share->take_body(bytes, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->wake_.ring();
  })) {
    const bool woken = co_await wake_.wait_until(until);
    if (gone_) co_return std::nullopt;
    if (woken) continue;
    co_await turn_away({503, "this client has too much in work to send more"});
    co_return std::nullopt;
  }
  co_return BodyRoom(share, bytes);
}

asio::awaitable<bool> Peer::read_body(Parser& parser, BodyRoom& room) {
  if (has_chunks_ && field(parser.get(), Field::expect) == "100-continue") {
    stream_.expires_after(door_->setup_.limits.write_time);
    if (!co_await stream_.write("HTTP/1.1 100 Continue\r\n\r\n")) co_return false;
  }
  stream_.expires_after(door_->setup_.limits.body_time);
  parser.eager(true);
  boost::system::error_code error;
  while (!error && !parser.is_done()) error = co_await read_piece(parser);
  stream_.expires_never();
  if (!error) room.shrink(parser.get().body().size());
  if (!error) co_return true;
  if (is_of_http(error)) co_await turn_away(refusal_of(error));
  co_return false;
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
        if (error || self->idle_) return;  // or its next request is read already
        char byte = 0;
        const auto got =
            ::recv(self->stream_.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        const bool is_there = got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK));
        if (is_there && !self->stream_.is_tls()) return;  // its next request already
        // Or, within TLS, its farewell, which the end of the connection follows: tell() looks.
        if (is_there && !self->stream_.has_hung_up()) {
          self->unread_ = true;
          self->wake_.ring();
          return;
        }
        self->gone_ = true;
        self->wake_.ring();
      });
}

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace {

// Whether a client is still there that sent something within TLS while it waits: nothing else
// tells.
constexpr auto kLook = std::chrono::seconds(1);
// Most calls are over before it matters that their client went: to watch for that is a system call.
constexpr auto kUnwatched = std::chrono::milliseconds(20);

// Of revision 2026-07-28, whose errors of the protocol have a status.
unsigned status_of(const Event& event, bool stateless) {
  if (!stateless) return 200;
  switch (event.error_code) {
    case ipc::kMethodNotFound: return 404;
    case ipc::kInvalidRequest:
    case kHeaderMismatch:
    case kMissingCapability:
    case kUnsupportedVersion: return 400;
    default: return 200;
  }
}

}  // namespace

asio::awaitable<bool> Peer::tell(std::shared_ptr<EventStream> stream, Telling telling) {
  using Clock = std::chrono::steady_clock;
  const HttpLimits& limits = door_->setup_.limits;
  const auto ticket = stream->attach([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->wake_.ring();
  });
  const auto watch_from = Clock::now() + kUnwatched;
  const auto begin_by = Clock::now() + limits.json_within;
  auto quiet_until = Clock::time_point();
  bool is_watched = false;
  bool begun = false;
  bool whole = false;
  while (!gone_ && stream->is_reader(ticket)) {
    if (is_over(telling.grace)) {
      // The client is to come with another token, and on another connection.
      keep_alive_ = false;
      if (begun)
        co_await end_events();
      else
        co_await turn_away(token_is_over());
      break;
    }
    const auto event = stream->at(telling.from);
    if (event != nullptr && event->is_answer && !begun && telling.as_json && !event->line.empty()) {
      const unsigned status = status_of(*event, telling.stateless);
      whole = co_await answer_json(status, event->line, telling.session_id);
      break;
    }
    if (telling.only_json && (event != nullptr || stream->is_abandoned())) {
      if (event != nullptr && !event->is_answer) {
        stream->take(telling.from++);
        continue;
      }
      whole = event != nullptr ? co_await answer_empty(202)  // the client took the request back
                               : co_await turn_away({503, "this request has no answer any more"});
      break;
    }
    const bool is_late = !telling.only_json && (Clock::now() >= begin_by || !telling.as_json);
    if (!begun && (event != nullptr || is_late || stream->is_abandoned())) {
      begun = true;
      if (!co_await begin_events(telling)) break;
      continue;
    }
    if (event != nullptr) {
      const bool is_last = event->is_answer;
      if (!co_await send_event(*stream, telling.from, telling)) break;
      stream->take(telling.from++);
      if (is_last) {
        whole = co_await end_events();
        break;
      }
      continue;
    }
    if (stream->is_abandoned() || stream->is_answered() || stream->is_lost(telling.from)) {
      whole = co_await end_events();
      break;
    }
    if (unread_ && stream_.has_hung_up()) break;
    const auto now = Clock::now();
    if (now >= watch_from && !std::exchange(is_watched, true)) watch();
    if (quiet_until <= now) quiet_until = now + limits.keep_alive;
    auto next = begun || telling.only_json ? quiet_until : begin_by;
    if (!is_watched) next = std::min(next, watch_from);
    if (stands_) next = std::min(next, look_at_);
    const bool woken = co_await wake_.wait_until(unread_ ? std::min(next, now + kLook) : next);
    if (woken || !begun || Clock::now() < quiet_until) continue;
    if (!co_await send_chunk(": \n\n")) break;
  }
  stream->detach(ticket);
  co_return whole;
}

asio::awaitable<bool> Peer::begin_events(const Telling& telling) {
  std::string head = status_line(200);
  add_header(head, "Content-Type", "text/event-stream");
  add_header(head, "Cache-Control", "no-store, no-transform");
  add_header(head, "X-Accel-Buffering", "no");  // nginx would keep events back until it has many
  if (!telling.session_id.empty()) add_header(head, "Mcp-Session-Id", telling.session_id);
  if (has_chunks_) add_header(head, "Transfer-Encoding", "chunked");
  if (!keep_alive_) add_header(head, "Connection", "close");
  count(200);
  co_return co_await send(head.append("\r\n"));
}

asio::awaitable<bool> Peer::send_event(const EventStream& stream, std::uint64_t place,
                                       const Telling& telling) {
  const auto event = stream.at(place);
  if (event->line.empty()) co_return true;  // the client took the request back
  std::string text;
  if (telling.with_ids) text = fmt::format("id: {}\n", to_text(EventId{stream.number(), place}));
  text.append("event: message\ndata: ").append(event->line).append("\n\n");
  co_return co_await send_chunk(std::move(text));
}

asio::awaitable<bool> Peer::send_chunk(std::string text) {
  if (!has_chunks_) co_return co_await send(text);
  std::string chunk = fmt::format("{:x}\r\n", text.size());
  chunk.append(text).append("\r\n");
  co_return co_await send(chunk);
}

asio::awaitable<bool> Peer::end_events() {
  if (!has_chunks_) co_return true;  // the connection ends
  co_return co_await send("0\r\n\r\n");
}

std::string Peer::answer_head(unsigned status) const {
  std::string head = status_line(status);
  add_header(head, "Cache-Control", "no-store");
  if (!keep_alive_) add_header(head, "Connection", "close");
  if (status == 401 || (status == 403 && !challenge_.empty())) {
    std::string challenge = "Bearer realm=\"mcpac\"";
    for (const std::string& part : {challenge_, door_->setup_.challenge})
      challenge += part.empty() ? "" : ", " + part;
    add_header(head, "WWW-Authenticate", challenge);
  }
  if (status == 405) add_header(head, "Allow", "POST, GET, DELETE");
  return head;
}

asio::awaitable<bool> Peer::answer_json(unsigned status, std::string_view body,
                                        std::string_view session_id) {
  std::string head = answer_head(status);
  add_header(head, "Content-Type", "application/json");
  if (!session_id.empty()) add_header(head, "Mcp-Session-Id", session_id);
  co_return co_await write(status, std::move(head), body);
}

asio::awaitable<bool> Peer::answer_empty(unsigned status) {
  co_return co_await write(status, answer_head(status), "");
}

asio::awaitable<bool> Peer::refuse(Refusal refusal, std::int64_t code,
                                   const std::optional<ipc::Id>& id) {
  const std::string body = ipc::encode_error(id, code, refusal.why);
  co_return co_await answer_json(refusal.status, body);
}

asio::awaitable<bool> Peer::turn_away(Refusal refusal) {
  keep_alive_ = false;
  challenge_ = refusal.challenge;
  co_await refuse(std::move(refusal));
  co_return false;
}

void Peer::count(unsigned status) {
  const std::size_t digit = status / 100;
  if (digit < door_->answers_.size()) ++door_->answers_[digit];
}

asio::awaitable<bool> Peer::write(unsigned status, std::string head, std::string_view body) {
  add_header(head, "Content-Length", std::to_string(body.size()));
  head += "\r\n";
  count(status);
  co_return co_await send(head, body);
}

asio::awaitable<bool> Peer::send(std::string_view first, std::string_view second) {
  stream_.expires_after(door_->setup_.limits.write_time);
  const bool is_sent = co_await stream_.write(first, second);
  stream_.expires_never();
  co_return is_sent;
}

}  // namespace mcpac::gateway::http
