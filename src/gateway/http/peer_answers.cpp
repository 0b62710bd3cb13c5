// What a connection sends: answers with a body, and streams of events.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/write.hpp>

#include "gateway/http/peer.h"
#include "gateway/request_context.h"

namespace mcpac::gateway::http {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace {

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr unsigned kHttp11 = 11;
// Whether a client is still there that sent something within TLS while it waits: nothing else
// tells.
constexpr auto kLook = std::chrono::seconds(1);

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
    if (const auto self = weak.lock()) self->wake_.cancel();
  });
  watch();
  const auto begin_by = Clock::now() + limits.json_within;
  auto quiet_until = Clock::time_point();
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
    const Event* event = stream->at(telling.from);
    if (event != nullptr && event->is_answer && !begun && telling.as_json && !event->line.empty()) {
      const unsigned status = status_of(*event, telling.stateless);
      whole = co_await answer_json(status, event->line, telling.session_id);
      break;
    }
    const bool is_late = Clock::now() >= begin_by || !telling.as_json;
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
    if (quiet_until <= Clock::now()) quiet_until = Clock::now() + limits.keep_alive;
    auto next = begun ? quiet_until : begin_by;
    if (stands_) next = std::min(next, look_at_);
    wake_.expires_at(unread_ ? std::min(next, Clock::now() + kLook) : next);
    const auto [woken] = co_await wake_.async_wait(kAwait);
    if (woken || !begun || Clock::now() < quiet_until) continue;
    if (!co_await send_chunk(": \n\n")) break;
  }
  stream->detach(ticket);
  co_return whole;
}

asio::awaitable<bool> Peer::begin_events(const Telling& telling) {
  beast::http::response<beast::http::empty_body> head(beast::http::status::ok, kHttp11);
  head.set(beast::http::field::content_type, "text/event-stream");
  head.set(beast::http::field::cache_control, "no-store, no-transform");
  if (!telling.session_id.empty()) head.set("Mcp-Session-Id", telling.session_id);
  head.chunked(true);
  count(head.result_int());
  head.keep_alive(keep_alive_);
  beast::http::response_serializer<beast::http::empty_body> serializer(head);
  stream_.tcp().expires_after(door_->setup_.limits.write_time);
  auto [error, size] = co_await beast::http::async_write_header(stream_, serializer, kAwait);
  stream_.tcp().expires_never();
  co_return !error;
}

asio::awaitable<bool> Peer::send_event(const EventStream& stream, std::uint64_t place,
                                       const Telling& telling) {
  const Event& event = *stream.at(place);
  if (event.line.empty()) co_return true;  // the client took the request back
  std::string text;
  if (telling.with_ids) text = fmt::format("id: {}\n", to_text(EventId{stream.number(), place}));
  text.append("event: message\ndata: ").append(event.line).append("\n\n");
  co_return co_await send_chunk(std::move(text));
}

asio::awaitable<bool> Peer::send_chunk(std::string text) {
  stream_.tcp().expires_after(door_->setup_.limits.write_time);
  auto [error, size] =
      co_await asio::async_write(stream_, beast::http::make_chunk(asio::buffer(text)), kAwait);
  stream_.tcp().expires_never();
  co_return !error;
}

asio::awaitable<bool> Peer::end_events() {
  stream_.tcp().expires_after(door_->setup_.limits.write_time);
  auto [error, size] = co_await asio::async_write(stream_, beast::http::make_chunk_last(), kAwait);
  stream_.tcp().expires_never();
  co_return !error;
}

Peer::Response Peer::response(unsigned status) const {
  Response response(beast::http::int_to_status(status), kHttp11);
  response.set(beast::http::field::cache_control, "no-store");
  response.keep_alive(keep_alive_);
  if (status == 401 || (status == 403 && !challenge_.empty())) {
    std::string challenge = "Bearer realm=\"mcpac\"";
    for (const std::string& part : {challenge_, door_->setup_.challenge})
      challenge += part.empty() ? "" : ", " + part;
    response.set(beast::http::field::www_authenticate, challenge);
  }
  if (status == 405) response.set(beast::http::field::allow, "POST, GET, DELETE");
  return response;
}

asio::awaitable<bool> Peer::answer_json(unsigned status, std::string body,
                                        std::string_view session_id) {
  Response answer = response(status);
  answer.set(beast::http::field::content_type, "application/json");
  if (!session_id.empty()) answer.set("Mcp-Session-Id", session_id);
  answer.body() = std::move(body);
  co_return co_await write(std::move(answer));
}

asio::awaitable<bool> Peer::answer_empty(unsigned status) {
  co_return co_await write(response(status));
}

asio::awaitable<bool> Peer::refuse(Refusal refusal, std::int64_t code,
                                   const std::optional<ipc::Id>& id) {
  co_return co_await answer_json(refusal.status, ipc::encode_error(id, code, refusal.why));
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

asio::awaitable<bool> Peer::write(Response response) {
  response.prepare_payload();
  count(response.result_int());
  stream_.tcp().expires_after(door_->setup_.limits.write_time);
  auto [error, size] = co_await beast::http::async_write(stream_, response, kAwait);
  stream_.tcp().expires_never();
  co_return !error;
}

}  // namespace mcpac::gateway::http
