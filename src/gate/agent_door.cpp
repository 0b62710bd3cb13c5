// SPDX-License-Identifier: Apache-2.0

#include "gate/agent_door.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "core/json.h"
#include "gate/agent_message.h"
#include "gate/result_line.h"

namespace mcpac::gate {
namespace {

// MemoryCost: memory that a parsed value takes. For `[{},{},{}]` that is 25 times its text: a bound
// on waiting calls counts this, too.

// Beside the value itself; about what glibc's malloc gives for it.
[[nodiscard]] std::size_t memory_cost(const Json& value);

// A piece has a word of its own before it, and sixteen bytes are the step.
constexpr std::size_t piece(std::size_t bytes) {
  constexpr std::size_t kWord = sizeof(void*);
  constexpr std::size_t kStep = 2 * kWord;
  return bytes == 0 ? 0 : (bytes + kWord + kStep - 1) / kStep * kStep;
}

// Beside the object itself; a short text lies in it.
std::size_t text_bytes(const std::string& text) {
  static const std::size_t kInside = std::string().capacity();
  return text.capacity() <= kInside ? 0 : piece(text.capacity() + 1);
}

// A node of std::map has three pointers and a colour before its value.
constexpr std::size_t kMember = piece(4 * sizeof(void*) + sizeof(Json::object_t::value_type));

std::size_t memory_cost(const Json& value) {
  if (const auto* text = value.get_ptr<const Json::string_t*>())
    return piece(sizeof *text) + text_bytes(*text);
  if (const auto* elements = value.get_ptr<const Json::array_t*>()) {
    std::size_t bytes = piece(sizeof *elements) + piece(elements->capacity() * sizeof(Json));
    for (const Json& element : *elements) bytes += memory_cost(element);
    return bytes;
  }
  if (const auto* members = value.get_ptr<const Json::object_t*>()) {
    std::size_t bytes = piece(sizeof *members);
    for (const auto& [name, member] : *members)
      bytes += kMember + text_bytes(name) + memory_cost(member);
    return bytes;
  }
  return 0;
}

}  // namespace

namespace {

// An id comes back in the answer and waits with its call; a longer one is no counter.
constexpr std::size_t kMaxId = 256;
// Room for errors in the channel's queue when results have filled theirs: one for each call in
// flight.
constexpr std::size_t kErrorRoom = std::size_t{16} << 20U;

bool is_too_long(const ipc::Id& id) {
  const auto* text = std::get_if<std::string>(&id);
  return text != nullptr && text->size() > kMaxId;
}

}  // namespace

std::shared_ptr<AgentDoor> AgentDoor::open(const boost::asio::any_io_executor& executor,
                                           UniqueFd connection, Gate& gate, audit::Sink& audit,
                                           DoorCallbacks callbacks, DoorLimits limits) {
  std::shared_ptr<AgentDoor> door(
      new AgentDoor(executor, std::move(connection), gate, audit, std::move(callbacks), limits));
  door->start();
  return door;
}

AgentDoor::AgentDoor(const boost::asio::any_io_executor& executor, UniqueFd connection, Gate& gate,
                     audit::Sink& audit, DoorCallbacks callbacks, DoorLimits limits)
    : gate_(gate),
      anomalies_(audit),
      callbacks_(std::move(callbacks)),
      limits_(limits),
      last_word_(::fcntl(connection.get(), F_DUPFD_CLOEXEC, 0)),
      channel_(ipc::StreamChannel::over_socket(
          executor, std::move(connection),
          {.max_line = limits.max_line, .max_queued = limits.max_queued + kErrorRoom})),
      timer_(executor) {}

AgentDoor::~AgentDoor() {
  close();
}

void AgentDoor::start() {
  const auto weak = weak_from_this();
  ipc::ChannelCallbacks callbacks;
  callbacks.on_line = [weak](std::string_view line) {
    if (const auto self = weak.lock()) self->handle_line(line);
  };
  callbacks.on_closed = [weak](const ipc::CloseReason& reason) {
    if (const auto self = weak.lock()) self->handle_closed(reason);
  };
  callbacks.on_drained = [weak] {
    const auto self = weak.lock();
    if (!self || self->closed_) return;
    self->has_backlog_ = false;
    if (std::exchange(self->paused_, false)) self->channel_->resume_reading();
  };
  channel_->start(std::move(callbacks));
  if (limits_.partial_frame.count() > 0) watch_partial_frames();
}

void AgentDoor::handle_line(std::string_view line) {
  if (closed_) return;
  ++lines_;
  if (claims_authority(line)) anomalies_.note("grantedPermissions in a message: ignored");
  auto message = decode_message(line, {.max_bytes = limits_.max_line});
  if (!message) return handle_malformed(message.error());
  if (auto* request = std::get_if<ipc::Request>(&*message)) {
    return handle_request(std::move(*request), line.size());
  }
  if (auto* notification = std::get_if<ipc::Notification>(&*message)) {
    return handle_notification(std::move(*notification));
  }
  anomalies_.note("a response, though nothing was asked");
}

void AgentDoor::handle_request(ipc::Request request, std::size_t bytes) {
  if (is_too_long(request.id)) {
    anomalies_.note("an id beyond the limit");
    return send_error({}, ipc::kInvalidRequest, fmt::format("an id has at most {} bytes", kMaxId));
  }
  if (in_flight_.contains(request.id)) {
    anomalies_.note("an id that is still in flight", ipc::to_text(request.id));
    return send_error(request.id, ipc::kInvalidRequest, "this id is still in flight");
  }
  bytes = std::max(bytes, memory_cost(request.params));
  if (request.method == "tools/call") {
    return handle_tool_call(std::move(request.id), std::move(request.params), bytes);
  }
  if (request.method == "network/connect") return handle_connect(request.id, request.params, bytes);
  if (request.method == "mcpac/arguments") return handle_arguments(request.id);
  if (request.method == "ping") return send(ipc::encode_result(request.id, Json::object()));
  send_error(request.id, ipc::kMethodNotFound,
             "unknown method: " + bounded(request.method, kMaxId));
}

bool AgentDoor::has_room_for(const ipc::Id& id, std::size_t bytes) {
  const bool is_full = in_flight_.size() >= limits_.max_calls_in_flight;
  if (!is_full && (in_flight_.empty() || bytes_in_flight_ + bytes <= limits_.max_bytes_in_flight))
    return true;
  std::string why =
      is_full
          ? fmt::format("more than {} calls in flight", limits_.max_calls_in_flight)
          : fmt::format("more than {} bytes of requests in flight", limits_.max_bytes_in_flight);
  refuse_for_room(id, std::move(why));
  return false;
}

void AgentDoor::refuse_for_room(const ipc::Id& id, std::string why) {
  anomalies_.note("a call that there is no room for: refused", why);
  send_call_error(id, budget(std::move(why), Sent::kNo));
}

void AgentDoor::settle(const ipc::Id& id) {
  const auto found = in_flight_.find(id);
  if (found == in_flight_.end()) return;
  bytes_in_flight_ -= found->second.bytes;
  in_flight_.erase(found);
}

void AgentDoor::handle_connect(const ipc::Id& id, const Json& params, std::size_t bytes) {
  if (!has_room_for(id, bytes)) return;
  if (channel_->queued_descriptors() >= limits_.max_queued_descriptors) {
    return refuse_for_room(id, fmt::format("more than {} connections wait to be taken",
                                           limits_.max_queued_descriptors));
  }
  const auto request = read_connect(params);
  if (!request) return send_call_error(id, request.error());
  in_flight_.emplace(id, Awaited{0, bytes});
  bytes_in_flight_ += bytes;
  const auto call = gate_.connect(
      *request, [weak = weak_from_this(), id](std::expected<Connected, CallError> made) {
        const auto self = weak.lock();
        if (!self || self->closed_) return;
        self->settle(id);
        if (!made) return self->send_call_error(id, made.error());
        self->send(ipc::encode_result(id, {{"connection", made->connection}, {"descriptor", true}}),
                   std::move(made->descriptor));
      });
  if (const auto found = in_flight_.find(id); found != in_flight_.end()) found->second.call = call;
}

void AgentDoor::handle_tool_call(ipc::Id id, Json params, std::size_t bytes) {
  if (!has_room_for(id, bytes)) return;
  auto request = read_tool_call(std::move(params));
  if (!request) return send_call_error(id, request.error());
  in_flight_.emplace(id, Awaited{0, bytes});
  bytes_in_flight_ += bytes;
  const auto call =
      gate_.call(std::move(*request), [weak = weak_from_this(), id](const Answer& given) {
        const auto self = weak.lock();
        if (!self) return;
        self->settle(id);
        self->answer(id, given);
      });
  // A refusal has been answered from inside call().
  if (const auto found = in_flight_.find(id); found != in_flight_.end()) found->second.call = call;
}

void AgentDoor::handle_arguments(const ipc::Id& id) {
  const Json given = callbacks_.arguments ? callbacks_.arguments() : Json::object();
  send_result(id, ipc::encode_result(id, {{"arguments", given}}));
}

void AgentDoor::handle_notification(ipc::Notification notification) {
  const std::string& method = notification.method;
  if (method == "notifications/message") return handle_log(notification.params);
  if (method == "notifications/mcpac/result") return handle_result(std::move(notification.params));
  if (method == "notifications/mcpac/uncaught") return handle_uncaught(notification.params);
  if (method == "notifications/cancelled") return handle_cancel(notification.params);
  anomalies_.note("a notification that means nothing here, never a call", method);
}

void AgentDoor::handle_log(const Json& params) {
  const Json* data = find_member(params, "data");
  const auto level = log_level(string_member(params, "level"));
  if (data == nullptr || !level) return anomalies_.note("a log message without level or data");
  if (logged_ > limits_.max_log_total) return;
  std::string text = data->is_string() ? data->get<std::string>() : to_text(*data);
  text = bounded(text, limits_.max_log_line);
  logged_ += text.size();
  if (logged_ > limits_.max_log_total)
    anomalies_.note("log messages beyond the limit: dropped");
  else if (callbacks_.on_log)
    callbacks_.on_log(*level, text);
}

void AgentDoor::handle_result(Json params) {
  const auto value = params.is_object() ? params.find("value") : params.end();
  if (value == params.end()) return anomalies_.note("a result without a value");
  if (std::exchange(has_result_, true)) return anomalies_.note("a second result: ignored");
  if (callbacks_.on_result) callbacks_.on_result(std::move(*value));
}

void AgentDoor::handle_uncaught(const Json& params) {
  if (!params.is_object()) return anomalies_.note("an uncaught error without params");
  if (std::exchange(has_uncaught_, true))
    return anomalies_.note("a second uncaught error: ignored");
  const auto text = [&params](const char* name) {
    return bounded(string_member(params, name), kRecordedText);
  };
  if (callbacks_.on_uncaught)
    callbacks_.on_uncaught({text("kind"), text("permission"), text("message"), text("id")});
}

void AgentDoor::handle_cancel(const Json& params) {
  const auto id = request_id(params);
  if (!id) return anomalies_.note("a cancellation without a request id");
  // Not in flight is no anomaly: the answer may have crossed it.
  if (const auto found = in_flight_.find(*id); found != in_flight_.end())
    gate_.cancel(found->second.call);
}

void AgentDoor::handle_malformed(const ipc::RpcError& error) {
  anomalies_.note("a malformed frame", error.message);
  if (++malformed_ > limits_.max_malformed) {
    return expel("too many malformed frames", error.code);
  }
  if (error.is_response) return;
  const bool echo = error.id && !is_too_long(*error.id);
  send_error(echo ? error.id : std::nullopt, error.code, error.message);
}

void AgentDoor::answer(const ipc::Id& id, const Answer& given) {
  if (closed_) return;
  if (!given) return send_call_error(id, given.error());
  send_result(id, result_line(id, *given));
}

void AgentDoor::send_result(const ipc::Id& id, std::string line) {
  // An empty queue takes anything: a result over the limit can be delivered, if only alone.
  const std::size_t queued = channel_->queued_bytes();
  if (queued > 0 && queued + line.size() > limits_.max_queued) {
    anomalies_.note("answers wait unread: a result was dropped");
    return send_call_error(
        id, budget("too many answers wait unread: this result was dropped", Sent::kDone));
  }
  send(std::move(line));
}

void AgentDoor::send_call_error(const ipc::Id& id, const CallError& error) {
  const Json object = to_rpc_error(error);
  send(ipc::encode_error(id, rpc_code(error.kind), error.message, object.at("data")));
}

void AgentDoor::send_error(const std::optional<ipc::Id>& id, std::int64_t code,
                           std::string_view message) {
  send(ipc::encode_error(id, code, message));
}

void AgentDoor::send(std::string line, UniqueFd descriptor) {
  if (closed_) return;
  switch (channel_->send(std::move(line), std::move(descriptor))) {
    case ipc::SendStatus::kSent: return;
    case ipc::SendStatus::kClosed: return;  // on_closed is on its way
    case ipc::SendStatus::kQueued: has_backlog_ = true; break;
    // Even the room for errors is used up. An answer that cannot be given ends the connection.
    case ipc::SendStatus::kFull: return expel("answers wait unread", ipc::kInternalError);
  }
  if (!paused_ && channel_->queued_bytes() > limits_.pause_above_queued) {
    paused_ = true;
    channel_->pause_reading();
  }
}

void AgentDoor::watch_partial_frames() {
  timer_.expires_after(limits_.partial_frame);
  const bool was_partial = !paused_ && channel_->unfinished_bytes() > 0;
  timer_.async_wait([weak = weak_from_this(), was_partial,
                     lines = lines_](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || self->closed_) return;
    const bool is_partial = !self->paused_ && self->channel_->unfinished_bytes() > 0;
    // The same frame, begun before the last look and still without an end.
    if (was_partial && is_partial && lines == self->lines_) {
      return self->expel("a frame was begun and not finished in time", ipc::kInvalidRequest);
    }
    self->watch_partial_frames();
  });
}

void AgentDoor::expel(std::string_view what, std::int64_t code) {
  anomalies_.note(what);
  if (!has_backlog_) channel_->send(ipc::encode_error({}, code, what));
  end(DoorCallbacks::End::kViolation, what);
}

void AgentDoor::handle_closed(const ipc::CloseReason& reason) {
  switch (reason.cause) {
    case ipc::CloseCause::kEnd: return end(DoorCallbacks::End::kPeer, reason.detail);
    case ipc::CloseCause::kTruncated:
      anomalies_.note("the connection ended in the middle of a frame");
      return end(DoorCallbacks::End::kPeer, reason.detail);
    case ipc::CloseCause::kOverLong: {
      anomalies_.note("a frame over the limit");
      const std::string line = ipc::encode_error({}, ipc::kInvalidRequest, reason.detail) + "\n";
      if (!has_backlog_) {
        std::ignore =
            ::send(last_word_.get(), line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      }
      return end(DoorCallbacks::End::kViolation, reason.detail);
    }
    case ipc::CloseCause::kReadError:
    case ipc::CloseCause::kWriteError: break;
  }
  end(DoorCallbacks::End::kFailure, reason.detail);
}

void AgentDoor::end(DoorCallbacks::End end, std::string_view reason) {
  const auto keep = shared_from_this();
  const std::string why(reason);
  const auto on_closed = callbacks_.on_closed;
  if (closed_) return;
  close();
  if (on_closed) on_closed(end, why);
}

void AgentDoor::close() {
  if (closed_) return;
  closed_ = true;
  timer_.cancel();
  channel_->close();
  last_word_.reset();
  in_flight_.clear();
  anomalies_.summarize();
  gate_.close();
}

}  // namespace mcpac::gate
