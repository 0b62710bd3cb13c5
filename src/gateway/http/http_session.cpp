// SPDX-License-Identifier: Apache-2.0

#include "gateway/http/http_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace mcpac::gateway::http {
namespace {

// As many requests as may be in flight, and as many again whose answers were not taken yet.
constexpr std::size_t kMaxStreams = 512;
constexpr std::size_t kMaxGeneral = std::size_t{1} << 20U;
// Limit of reports about a request before its answer. A server decides how much it reports.
constexpr std::size_t kMaxReports = std::size_t{1} << 20U;

template <class Number>
bool read_number(std::string_view text, Number& into) {
  const auto* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, into);
  return error == std::errc() && stopped == end;
}

// Replaces an answer that there is no room for.
Event too_much(const ipc::Id& request) {
  constexpr const char* kWhy =
      "mcpac: the call was made, but its answer is not held: this client does not read those "
      "before";
  return {ipc::encode_error(request, ipc::kInternalError, kWhy), true, ipc::kInternalError};
}

}  // namespace

HttpSession::HttpSession(std::shared_ptr<ClientGrant> run, std::shared_ptr<ClientShare> share)
    : run_(std::move(run)),
      share_(std::move(share)),
      general_(std::make_shared<EventStream>(0, share_)) {}

std::shared_ptr<HttpSession> HttpSession::begin(std::shared_ptr<ClientGrant> run,
                                                std::shared_ptr<ClientShare> share) {
  std::shared_ptr<HttpSession> made(new HttpSession(std::move(run), std::move(share)));
  made->session_ = made->run_->talk(
      [weak = std::weak_ptr(made)](Outgoing message) {
        if (const auto self = weak.lock()) self->say(std::move(message));
      },
      [weak = std::weak_ptr(made)] {
        if (const auto self = weak.lock()) self->abandon_all();
      },
      "tcp");
  return made;
}

HttpSession::~HttpSession() {
  close();
}

std::shared_ptr<EventStream> HttpSession::open_stream(const ipc::Id& request) {
  if (const auto found = streams_.find(request); found != streams_.end()) {
    // Answered, and not taken: the client went on to use the id again.
    if (!found->second->is_answered()) return nullptr;
    streams_.erase(found);
  }
  if (streams_.size() >= kMaxStreams && !drop_oldest()) return nullptr;
  auto stream = std::make_shared<EventStream>(++last_number_, share_);
  streams_.emplace(request, stream);
  return stream;
}

std::shared_ptr<EventStream> HttpSession::find_stream(std::uint64_t number) const {
  if (number == 0) return general_;
  const auto found = std::ranges::find_if(
      streams_, [&](const auto& entry) { return entry.second->number() == number; });
  return found == streams_.end() ? nullptr : found->second;
}

void HttpSession::drop_stream(const EventStream& stream) {
  std::erase_if(streams_, [&](const auto& entry) { return entry.second.get() == &stream; });
}

void HttpSession::forget(const EventStream& stream) {
  const auto found = std::ranges::find_if(
      streams_, [&](const auto& entry) { return entry.second.get() == &stream; });
  if (found == streams_.end()) return;
  const ipc::Id request = found->first;
  streams_.erase(found);
  session_->forget(request);
}

void HttpSession::say(Outgoing message) {
  Event event{std::move(message.line), message.is_answer, message.error_code};
  const auto found = message.about ? streams_.find(*message.about) : streams_.end();
  if (found != streams_.end()) {
    EventStream& stream = *found->second;
    if (!event.is_answer && stream.bytes() > kMaxReports) stream.drop_taken();
    if (!event.is_answer && stream.bytes() > kMaxReports) return;  // they have no reader
    if (!share_->makes_room_for(event.line.size())) {
      if (!event.is_answer) return;
      event = too_much(*message.about);
    }
    stream.push(std::move(event));
    return share_->tidy();
  }
  // An answer whose stream is gone, or one to no request in particular.
  if (event.is_answer && message.about) return;
  event.is_answer = false;  // of no request: the stream goes on
  if (!share_->makes_room_for(event.line.size())) return;
  general_->push(std::move(event));
  general_->shrink(kMaxGeneral);
  share_->tidy();
}

bool HttpSession::drop_oldest() {
  auto oldest = streams_.end();
  for (auto at = streams_.begin(); at != streams_.end(); ++at) {
    const bool is_idle = at->second->is_answered() && !at->second->has_reader();
    if (is_idle && (oldest == streams_.end() || at->second->number() < oldest->second->number()))
      oldest = at;
  }
  if (oldest == streams_.end()) return false;
  streams_.erase(oldest);
  return true;
}

bool HttpSession::is_busy() const {
  return session_->calls_in_flight() > 0 || general_->has_reader() ||
         std::ranges::any_of(streams_,
                             [](const auto& entry) { return entry.second->has_reader(); });
}

void HttpSession::close() {
  if (session_) session_->close();
  abandon_all();
}

void HttpSession::abandon_all() {
  for (const auto& [id, stream] : std::map(streams_)) stream->abandon();
  general_->abandon();
}

std::string to_text(const EventId& id) {
  return fmt::format("{}-{}", id.stream, id.place);
}

std::optional<EventId> parse_event_id(std::string_view text) {
  const auto dash = text.find('-');
  EventId id;
  const bool is_one = dash != std::string_view::npos &&
                      read_number(text.substr(0, dash), id.stream) &&
                      read_number(text.substr(dash + 1), id.place);
  return is_one ? std::optional(id) : std::nullopt;
}

}  // namespace mcpac::gateway::http
