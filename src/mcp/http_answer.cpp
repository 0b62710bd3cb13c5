// SPDX-License-Identifier: Apache-2.0

// The receiving half of HttpTransport: what a response means, and streams of events.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/field.hpp>

#include "core/backoff.h"
#include "core/printable.h"
#include "ipc/json_rpc.h"
#include "ipc/line_splitter.h"
#include "mcp/http_transport.h"
#include "mcp/resync_notice.h"

namespace mcpac::mcp {
namespace asio = boost::asio;
namespace {

constexpr std::size_t kMaxErrorBody = std::size_t{64} << 10U;
// Time for a stream that has given its answer to end, so that its connection can be reused.
constexpr std::chrono::milliseconds kStreamTail{500};
constexpr std::chrono::milliseconds kMaxRetry{30'000};
constexpr std::chrono::milliseconds kMinRetry{50};
constexpr int kMaxAttempts = 5;  // without a new event between them
// Of the stream that belongs to no request, while it does not last.
constexpr std::chrono::milliseconds kLongestPause{60'000};
// A server may say again what was said since an event (it need not), and is compared now and then.
constexpr std::chrono::milliseconds kBelieved{60'000};

std::string reason_of(std::string_view body) {
  auto message = ipc::decode(body);
  if (message) {
    const auto* response = std::get_if<ipc::Response>(&*message);
    if (response != nullptr && !response->outcome) {
      return printable(response->outcome.error().message, 300);
    }
  }
  return printable(body, 300);
}

// Words of servers that refuse a session: "Session not found", "Server not initialized".
bool speaks_of_sessions(std::string_view body) {
  std::string lower(body);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return lower.contains("session") || lower.contains("initializ");
}

bool answers(std::string_view body, std::int64_t id) {
  auto message = ipc::decode_finite(body);
  if (!message) return false;
  const auto* response = std::get_if<ipc::Response>(&*message);
  return response != nullptr && response->id == ipc::Id(id);
}

}  // namespace

bool HttpTransport::is_waiting(std::optional<std::int64_t> id) const {
  return !closed_ && id && live_.contains(*id) && events_->is_waiting(*id);
}

void HttpTransport::receive(std::string_view text, std::optional<std::int64_t> carrier) {
  if (closed_) return;
  const auto events = events_;
  const auto begun = ReadThrottle::Clock::now();
  events->on_message(text, carrier);
  pace_.took(begun, ReadThrottle::Clock::now());
}

asio::awaitable<void> HttpTransport::receive_in_pace(std::string_view text,
                                                     std::optional<std::int64_t> carrier) {
  // Others wait for the same, and the first of them begins another rest.
  for (auto rest = pace_.rest(ReadThrottle::Clock::now()); rest.count() > 0;
       rest = pace_.rest(ReadThrottle::Clock::now())) {
    co_await pause(std::chrono::ceil<std::chrono::milliseconds>(rest));
    if (closed_ || (carrier && !live_.contains(*carrier))) co_return;
  }
  receive(text, carrier);
}

asio::awaitable<Result<void>> HttpTransport::take_answer(const Outgoing& message, HttpHead head,
                                                         Connection connection) {
  if (head.status < 200 || head.status >= 300) {
    co_return co_await take_refusal(message, std::move(head), connection);
  }
  if (!head.content_encoding.empty() && head.content_encoding != "identity") {
    co_return failure(ErrorId::kServerHttp, "the response is encoded, which was not asked for");
  }
  if (message.method == "initialize" && !head.session_id.empty()) {
    if (!is_session_id(head.session_id)) {
      co_return failure(ErrorId::kServerProtocol, "the session id holds characters it must not");
    }
    state_.session_id = head.session_id;
  }
  if (!message.request_id) {
    co_await read_all(connection, kMaxErrorBody);
    co_return Result<void>();
  }
  if (head.content_type == "application/json") {
    HttpReadings::Reading reading(readings_, HttpReadings::Form::kWhole);  // also while it rests
    auto body = co_await read_all(connection, ipc::kMaxLine, reading);
    if (!body) co_return pass_on(body);
    co_await receive_in_pace(*body, message.request_id);
  } else if (head.content_type == "text/event-stream") {
    StreamEnd end = co_await read_events(connection, std::string(), message.request_id);
    if (is_waiting(message.request_id)) {
      co_return co_await resume(*message.request_id, std::move(end));
    }
  } else {
    co_return failure(ErrorId::kServerHttp,
                      fmt::format("the answer to {} (status {}) is \"{}\", neither JSON nor a "
                                  "stream of events",
                                  message.method, head.status, printable(head.content_type, 60)),
                      "", "is this the URL of an MCP endpoint?");
  }
  if (is_waiting(message.request_id)) {
    co_return failure(ErrorId::kServerProtocol,
                      fmt::format("the response to {} holds no answer", message.method));
  }
  co_return Result<void>();
}

asio::awaitable<Result<void>> HttpTransport::take_refusal(const Outgoing& message, HttpHead head,
                                                          Connection connection) {
  auto body = co_await read_all(connection, kMaxErrorBody);
  const std::string text = body ? std::move(*body) : std::string();
  // The specification has 404 for a session that is not known; 400 and 401 are seen, too, and are
  // asked about.
  const bool is_answer = message.request_id && answers(text, *message.request_id);
  const bool may_be_session = (head.status == 404 || head.status == 400 || head.status == 401) &&
                              !state_.session_id.empty() && message.method != "initialize" &&
                              !closed_ && (!is_answer || speaks_of_sessions(text));
  if (may_be_session && ((head.status == 404 && !is_answer) || co_await is_session_gone())) {
    lose_session(message.request_id, head.status);
    co_return Result<void>();
  }
  // A status other than 2xx with a JSON-RPC error to our very request is an answer like any other.
  if (is_answer) {
    receive(text, message.request_id);
    co_return Result<void>();
  }
  co_return std::unexpected(refusal(head, text));
}

Error HttpTransport::refusal(const HttpHead& head, std::string_view body) const {
  Error error{.id = ErrorId::kServerHttp,
              .what = fmt::format("server {} answered with HTTP status {}", server_, head.status),
              .where = "server " + server_,
              .why = reason_of(body),
              .fix = ""};
  // By the status it has not done it (RFC 9110, 15.4 and 15.5). Of 408 it waited for the rest of it
  // and 5xx says nothing: a proxy may say so while its server works on.
  if (head.status >= 300 && head.status < 500 && head.status != 408) error.sent = Sent::kRefused;
  if (head.status == 401 || head.status == 403) {
    error.fix = R"(check the credentials: "headers": {"Authorization": "Bearer ${env:TOKEN}"})";
  } else if (head.status >= 300 && head.status < 400) {
    const auto moved = parse_location(state_.url, head.location);
    error.why =
        moved && moved->is_same_origin(state_.url)
            ? "it moves on and on, or calls while they are under way"
            : "redirects to another host are not followed: they would carry your headers there";
    const std::string there = moved ? moved->text() : head.location;
    error.fix = fmt::format("if you trust it, write \"url\": \"{}\"", printable(there, 200));
  } else if (head.status == 404 || head.status == 405) {
    error.fix =
        "is this the URL of a Streamable HTTP endpoint? Of a server that has the older HTTP+SSE "
        "transport "
        "alone (often at /sse) ask for its newer URL, or start a bridge to it over standard input "
        "as the \"command\"";
  } else if (!head.retry_after.empty()) {
    error.fix = fmt::format("it asks to wait: Retry-After: {}", printable(head.retry_after, 40));
  }
  return error;
}

asio::awaitable<void> HttpTransport::until_room(const HttpReadings::Reading& reading,
                                                Connection connection) {
  constexpr std::chrono::milliseconds kLook{20};
  while (!closed_ && !connection->is_closed() && !readings_.may_grow(reading))
    co_await pause(kLook);
}

asio::awaitable<Result<std::string>> HttpTransport::read_all(Connection connection,
                                                             std::size_t limit) {
  HttpReadings::Reading reading(readings_, HttpReadings::Form::kWhole);
  co_return co_await read_all(std::move(connection), limit, reading);
}

asio::awaitable<Result<std::string>> HttpTransport::read_all(Connection connection,
                                                             std::size_t limit,
                                                             HttpReadings::Reading& reading) {
  std::string text;
  // Else what has come is copied each time that it outgrows its place.
  text.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(connection->body_left(), limit)));
  while (true) {
    reading.held = text.size();
    co_await until_room(reading, connection);
    reading.asked = std::chrono::steady_clock::now();
    auto piece = co_await connection->read_body(readings_.most_of_turn(reading));
    if (!piece) {
      co_return failure(piece.error().id, std::move(piece.error().what));
    }
    if (piece->empty()) co_return text;
    if (text.size() + piece->size() > limit) {
      connection->close();
      co_return failure(ErrorId::kServerLimit,
                        fmt::format("a response is longer than {} bytes", limit));
    }
    text += *piece;
  }
}

// Hands every event to the session. Ends with the stream; soon after the answer to `id`, if given.
asio::awaitable<HttpTransport::StreamEnd> HttpTransport::read_events(
    Connection connection, std::string last_event, std::optional<std::int64_t> id) {
  SseParser parser(ipc::kMaxLine);
  StreamEnd end{.last_event = std::move(last_event)};
  asio::steady_timer tail(executor_);
  bool ending = false;
  HttpReadings::Reading reading(
      readings_, id ? HttpReadings::Form::kEvents : HttpReadings::Form::kAnnouncements);
  while (!closed_) {
    reading.held = parser.unfinished_bytes();
    co_await until_room(reading, connection);
    auto piece = co_await connection->read_body();
    if (!piece) end.error = std::move(piece.error());
    if (!piece || piece->empty()) break;
    parser.push(*piece);
    while (const auto data = parser.next()) {
      reading.held = data->size();
      co_await receive_in_pace(*data, id);
    }
    if (parser.over_long()) {
      end.error = failure(ErrorId::kServerLimit, "an event is over the limit of 16 MiB").error();
      end.last_event.clear();  // the same would come again
      connection->close();
      co_return end;
    }
    if (!id || ending || is_waiting(id)) continue;
    ending = true;
    tail.expires_after(kStreamTail);
    tail.async_wait([connection](const boost::system::error_code& error) {
      if (!error) connection->close();
    });
  }
  if (!parser.last_id().empty()) end.last_event = parser.last_id();
  if (parser.retry()) end.retry = std::clamp(*parser.retry(), kMinRetry, kMaxRetry);
  co_return end;
}

asio::awaitable<Result<void>> HttpTransport::resume(std::int64_t id, StreamEnd end) {
  int attempts = 0;
  while (is_waiting(id)) {
    if (end.last_event.empty() || ++attempts > kMaxAttempts) {
      const bool limit = end.error && end.error->id == ErrorId::kServerLimit;
      if (limit) co_return std::unexpected(std::move(*end.error));
      co_return failure(ErrorId::kServerHttp, "the stream of events ended before the answer",
                        end.error ? end.error->what : std::string());
    }
    co_await pause(end.retry);
    if (!is_waiting(id)) break;
    auto next = co_await get_events(end.last_event, id);
    if (!next) {
      // Whatever became of this GET: the server has had the call.
      next.error().sent = Sent::kMaybeDone;
      co_return pass_on(next);
    }
    if (next->last_event != end.last_event) attempts = 0;
    end = std::move(*next);
  }
  co_return Result<void>();
}

asio::awaitable<Result<HttpTransport::StreamEnd>> HttpTransport::get_events(
    std::string last_event, std::optional<std::int64_t> id) {
  HttpHead head;
  std::string used;
  {
    Lease lease(*this, id);
    const Connection connection = lease.connection();
    if (lease.is_new()) {
      auto opened = co_await connection->open();
      if (!opened) co_return pass_on(opened);
    }
    HttpRequest request = make_get(state_, last_event);
    used = authorize(request);
    auto answered = co_await connection->exchange(std::move(request));
    if (!answered) co_return pass_on(answered);
    head = std::move(*answered);
    if (head.status == 200 && head.content_type == "text/event-stream") {
      if (!id) {
        if (is_stream_settled_) hear_again(!last_event.empty());
        stream_settled();
      }
      StreamEnd end = co_await read_events(connection, std::move(last_event), id);
      end.stood = true;
      co_return end;
    }
  }
  // Of a server that has no such stream 404 may say just that.
  const bool is_lost = head.status == 404 && !state_.session_id.empty() && !closed_ &&
                       (id || !last_event.empty() || co_await is_session_gone());
  if (is_lost) lose_session(std::nullopt, head.status);
  const bool has_none =
      head.status == 405 || (head.status == 404 && !is_lost && last_event.empty());
  if (has_none && !id) {
    StreamEnd none;
    none.is_none = true;
    co_return none;
  }
  // What followed that event is not kept there any more: from now on, then, and what was missed is
  // looked for.
  const bool is_stale = head.status == 400 || head.status == 404 || head.status == 410;
  if (!id && !closed_ && !is_lost && !last_event.empty() && is_stale) co_return StreamEnd();
  Error refused = refusal(head, "");
  if (head.status == 401 && authorizer_ && !closed_) {  // the next try has a token
    auto got = co_await authorizer_->challenged(head, used);
    if (got) {
      StreamEnd end;
      end.last_event = std::move(last_event);
      co_return end;
    }
  }
  co_return std::unexpected(std::move(refused));
}

// The stream of messages that belong to no request, as long as the session lives: servers end it,
// and proxies whatever is silent. A server that has none answers 405, which is fine.
asio::awaitable<void> HttpTransport::listen_loop() {
  using Clock = std::chrono::steady_clock;
  const auto self = shared_from_this();
  std::string last_event;
  ExponentialBackoff backoff(StreamEnd().retry, kLongestPause);
  while (!closed_ && !is_lost_) {
    const auto begun = Clock::now();
    auto end = co_await get_events(last_event, std::nullopt);
    stream_settled();
    if (closed_ || is_lost_ || (end && end->is_none)) co_return;
    const StreamEnd how = end ? std::move(*end) : StreamEnd();
    const bool said_something = end && how.last_event != last_event;
    const bool went_well = said_something || (how.stood && Clock::now() - begun > backoff.last());
    if (went_well) backoff = ExponentialBackoff(how.retry, kLongestPause);
    if (end) last_event = how.last_event;
    co_await pause(std::max(how.retry, backoff.next()));
  }
}

// What was said while nothing stood is lost: as if the server had said now that it changed, since
// it may have.
void HttpTransport::hear_again(bool is_resumed) {
  const auto now = std::chrono::steady_clock::now();
  if (is_resumed && now - hears_again_ < kBelieved) return;
  hears_again_ = now;
  receive(ipc::encode_notification("notifications/tools/list_changed", nullptr), std::nullopt);
  receive(ipc::encode_notification(kResync, nullptr), std::nullopt);
}

asio::awaitable<void> HttpTransport::pause(std::chrono::milliseconds time) {
  if (closed_) co_return;
  asio::steady_timer timer(executor_, time);
  timers_.insert(&timer);
  co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  timers_.erase(&timer);
}

asio::awaitable<bool> HttpTransport::is_session_gone() {
  constexpr std::chrono::seconds kPatience{10};
  if (is_lost_) co_return true;
  Lease lease(*this, std::nullopt);
  const Connection connection = lease.connection();
  asio::steady_timer limit(executor_, kPatience);
  limit.async_wait([connection](const boost::system::error_code& error) {
    if (!error) connection->close();
  });
  if (lease.is_new()) {
    auto opened = co_await connection->open();
    if (!opened) co_return false;
  }
  Outgoing ping;
  ping.method = "ping";
  HttpRequest request =
      make_post(state_, ping, R"({"jsonrpc":"2.0","id":"mcpac-session","method":"ping"})");
  authorize(request);
  auto head = co_await connection->exchange(std::move(request));
  connection->close();
  co_return head && (head->status == 404 || head->status == 400 || head->status == 401);
}

void HttpTransport::lose_session(std::optional<std::int64_t> id, unsigned status) {
  if (closed_) return;
  const auto self = shared_from_this();
  const auto events = events_;
  if (!std::exchange(is_lost_, true)) {
    for (const auto& idle : idle_) idle.connection->close();
    room_->drop(idle_.size());
    idle_.clear();
    idle_watch_.cancel();
  }
  events->on_session_lost(
      id, failure(ErrorId::kServerHttp, "the server has forgotten our session",
                  fmt::format("it answered with HTTP status {}", status), "connect again")
              .error());
}

namespace asio = boost::asio;
namespace {

constexpr std::size_t kMaxRefusal = std::size_t{64} << 10U;

}  // namespace

std::string HttpTransport::authorize(HttpRequest& request) const {
  const auto token = authorizer_ ? authorizer_->authorization() : std::string();
  if (!token.empty()) request.set(boost::beast::http::field::authorization, token);
  return token;
}

// A request that a server did not admit was not carried out, so it may be sent again: once with a
// token that it accepts, and once more with one that may do more.
asio::awaitable<Result<void>> HttpTransport::deliver_authorized(Outgoing& message) {
  std::set<unsigned> refused;
  while (true) {
    Delivered delivered;
    {
      Lease lease(*this, message.request_id);
      delivered = co_await deliver(message, lease);
    }
    if (delivered.is_moved && is_live(message)) continue;
    if (!delivered.challenge) co_return std::move(delivered.outcome);
    const HttpHead head = std::move(*delivered.challenge);
    if (!refused.insert(head.status).second) {
      const bool may_be_session = head.status == 401 && !state_.session_id.empty() && !closed_;
      if (may_be_session && co_await is_session_gone()) {
        lose_session(message.request_id, head.status);
        co_return Result<void>();
      }
      // Another login would end here, too.
      if (head.status == 401 && !delivered.outcome)
        delivered.outcome.error().fix =
            R"(it refuses the token of its own login: check "resource" and "scopes" in its "auth")";
      co_return std::move(delivered.outcome);
    }
    auto got = co_await authorizer_->challenged(head, delivered.used);
    if (!got) {
      Error error = std::move(got.error());
      error.sent = Sent::kRefused;
      error.what += fmt::format(" (HTTP status {})", head.status);
      // Its login was not believed: no advice to hand it a token all the same.
      if (error.fix.empty())
        error.fix = "ask who runs the server; give it no token by hand before that";
      co_return std::unexpected(std::move(error));
    }
    if (!is_live(message)) co_return Result<void>();
  }
}

bool HttpTransport::follows(const HttpHead& head) {
  if (head.status < 300) may_move_ = 0;
  if (may_move_ <= 0 || (head.status != 307 && head.status != 308)) return false;
  --may_move_;
  auto moved = parse_location(state_.url, head.location);
  if (!moved || !moved->is_same_origin(state_.url) || moved->target == state_.url.target)
    return false;
  state_.url.target = std::move(moved->target);
  return true;
}

asio::awaitable<HttpTransport::Delivered> HttpTransport::deliver(Outgoing& message, Lease& lease) {
  const Connection connection = lease.connection();
  Delivered delivered;
  // A message without an answer has no clock of its own in the session.
  asio::steady_timer limit(executor_);
  if (!message.request_id) {
    limit.expires_after(std::chrono::seconds(30));
    limit.async_wait([connection](const boost::system::error_code& error) {
      if (!error) connection->close();
    });
  }
  const auto failed = [this](const Error& error) {
    return failure(error.id, error.what,
                   error.why.empty() ? error.where : fmt::format("{}, {}", error.where, error.why),
                   error.fix);
  };
  if (lease.is_new()) {
    auto opened = co_await connection->open();
    if (!opened) {
      delivered.outcome = failed(opened.error());
      delivered.outcome.error().sent = Sent::kNo;
      co_return delivered;
    }
  }
  if (!is_live(message)) co_return delivered;
  // Kept only where it may have to be sent once more.
  const bool may_go_again = authorizer_ != nullptr || may_move_ > 0;
  HttpRequest request =
      make_post(state_, message, may_go_again ? message.line : std::move(message.line));
  delivered.used = authorize(request);
  auto head = co_await connection->exchange(std::move(request));
  if (!head) {
    delivered.outcome = failed(head.error());
    co_return delivered;
  }
  if (closed_) co_return delivered;
  if (follows(*head)) {
    co_await read_all(connection, kMaxRefusal);
    delivered.is_moved = true;
    co_return delivered;
  }
  // Some servers answer so where they do not know the session.
  const bool is_about_session = head->status == 401 && delivered.used.empty() &&
                                head->www_authenticate.empty() && !state_.session_id.empty();
  const bool wants_token =
      authorizer_ &&
      ((head->status == 401 && !is_about_session) ||
       (head->status == 403 && head->www_authenticate.contains("insufficient_scope")));
  if (!wants_token) {
    delivered.outcome = co_await take_answer(message, std::move(*head), connection);
    co_return delivered;
  }
  auto body = co_await read_all(connection, kMaxRefusal);
  delivered.outcome = std::unexpected(refusal(*head, body ? *body : std::string()));
  delivered.challenge = std::move(*head);
  co_return delivered;
}

}  // namespace mcpac::mcp
