#include "gateway/http/peer.h"

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

}  // namespace mcpac::gateway::http
