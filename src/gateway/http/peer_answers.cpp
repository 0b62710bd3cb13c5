// Output of a connection: answers with a body, and streams of events.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gateway/http/answer_head.h"
#include "gateway/http/peer.h"
#include "gateway/request_context.h"

namespace mcpac::gateway::http {
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
