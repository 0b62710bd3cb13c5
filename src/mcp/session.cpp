// SPDX-License-Identifier: Apache-2.0

#include "mcp/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "core/printable.h"
#include "mcp/protocol.h"

namespace mcpac::mcp {
namespace asio = boost::asio;
namespace {

// Progress keeps a slow call alive, but not for ever: a server could report it without end.
constexpr int kMaxTimeouts = 10;

// It keeps the events, and costs no copy of the name.
std::shared_ptr<const std::string> client_of(const std::shared_ptr<const CallEvents>& events) {
  if (events->client.empty()) return nullptr;
  return {events, &events->client};
}

}  // namespace

Session::Session(asio::any_io_executor executor, std::string server,
                 std::shared_ptr<Transport> transport, std::shared_ptr<const SecretValues> secrets,
                 Events events)
    : executor_(std::move(executor)),
      server_(std::move(server)),
      transport_(std::move(transport)),
      secrets_(std::move(secrets)),
      events_(std::move(events)),
      clock_(executor_, [this] { look_at_times(); }) {}

void Session::start() {
  const auto weak = weak_from_this();
  transport_->start({.on_message =
                         [weak](std::string_view line, std::optional<std::int64_t> carrier) {
                           if (const auto self = weak.lock()) self->receive(line, carrier);
                         },
                     .is_waiting =
                         [weak](std::int64_t id) {
                           const auto self = weak.lock();
                           if (!self) return false;
                           const auto found = self->pending_.find(id);
                           return found != self->pending_.end() && !found->second->outcome;
                         },
                     .on_request_failed =
                         [weak](std::int64_t id, Error error) {
                           const auto self = weak.lock();
                           if (!self) return;
                           self->settle(id,
                                        std::unexpected(self->secrets_->redact(std::move(error))));
                         },
                     .on_session_lost =
                         [weak](std::optional<std::int64_t> id, Error error) {
                           if (const auto self = weak.lock()) self->lose(id, std::move(error));
                         },
                     .on_closed =
                         [weak](Error error) {
                           if (const auto self = weak.lock()) self->end(std::move(error));
                         }});
}

std::shared_ptr<const CallEvents> RequestOptions::no_events() {
  static const auto kNone = std::make_shared<const CallEvents>();
  return kNone;
}

std::int64_t Session::begin(std::string method, Json params, RequestOptions options) {
  return begin_with(std::move(method), params, std::move(options));
}

std::int64_t Session::begin_with(std::string method, Json& params, RequestOptions options) {
  const std::int64_t id = next_id_++;
  const auto events = options.events;
  Outgoing message{.line = {},
                   .request_id = id,
                   .method = method,
                   .name = std::move(options.name),
                   .headers = std::move(options.headers),
                   .client = client_of(events)};
  const bool wants_progress = options.wants_progress;
  auto pending = std::make_shared<Pending>(
      Pending{.method = std::move(method), .options = std::move(options)});
  pending_.emplace(id, pending);
  if (events->answer) {
    if (!client_) client_ = events->client;
    serves_several_ = serves_several_ || *client_ != events->client;
  }
  if (death_) {
    pending->outcome = std::unexpected(*death_);
    pending->outcome->error().sent = Sent::kNo;
    return id;
  }
  if (events->meta.is_object() && !events->meta.empty()) params["_meta"].update(events->meta);
  if (wants_progress)
    params["_meta"]["progressToken"] = id;
  else if (const auto meta = params.find("_meta"); meta != params.end() && meta->is_object())
    meta->erase("progressToken");  // its caller is not heard here
  if (stateless_) {
    Json& sent = params["_meta"];
    sent.update(stateless_meta(capabilities_for(*events)));
    if (!events->log_level.empty()) sent[std::string(kMetaLogLevel)] = events->log_level;
  }
  message.line = ipc::encode_request(id, message.method, params);
  transport_->send(std::move(message));
  return id;
}

std::int64_t Session::begin_then(std::string method, Json& params, RequestOptions options,
                                 std::chrono::milliseconds timeout, Done done) {
  const std::int64_t id = begin_with(std::move(method), params, std::move(options));
  const auto pending = pending_.at(id);
  pending->done = std::move(done);
  if (death_) {
    settle(id, *std::exchange(pending->outcome, std::nullopt));
    return id;
  }
  pending->begin_time(timeout);
  clock_.set_by(pending->deadline);
  return id;
}

void Session::cancel(std::int64_t id) {
  const auto found = pending_.find(id);
  if (found == pending_.end() || !found->second->done) return;
  const auto pending = found->second;
  if (pending->outcome) return;
  const bool was_sent = take_back(id, *pending, "cancelled");
  pending->outcome = was_cancelled(*pending, was_sent);
  tell(pending);
}

// Seldom: most have ended by then. Progress has moved the time of others.
void Session::look_at_times() {
  const auto now = std::chrono::steady_clock::now();
  for (auto next = pending_.begin(); next != pending_.end();) {
    const auto [id, pending] = *next++;  // this one may go
    if (!pending->done) continue;
    if (now < pending->deadline) {
      clock_.set_by(pending->deadline);
      continue;
    }
    const bool was_sent = take_back(id, *pending, "timed out");
    pending->outcome = too_late(*pending, was_sent);
    tell(pending);
  }
}

void Session::Pending::begin_time(std::chrono::milliseconds limit) {
  const auto start = std::chrono::steady_clock::now();
  timeout = limit;
  deadline = start + limit;
  last_deadline = start + kMaxTimeouts * limit;
}

asio::awaitable<Result<Reply>> Session::wait(std::int64_t id, std::chrono::milliseconds timeout,
                                             OnTimeout on_timeout) {
  const auto self = shared_from_this();
  const auto found = pending_.find(id);
  if (found == pending_.end()) co_return failure(ErrorId::kInternal, "no such request");
  const auto pending = found->second;
  pending->begin_time(timeout);
  while (!pending->outcome) {
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) {
      const bool was_sent = take_back(id, *pending, "cancelled");
      co_return was_cancelled(*pending, was_sent);
    }
    if (std::chrono::steady_clock::now() >= pending->deadline) {
      if (on_timeout == OnTimeout::kKeepWaiting)
        co_return failure(ErrorId::kServerTimeout, pending->method + " is waited for");
      const bool was_sent = take_back(id, *pending, "timed out");
      co_return too_late(*pending, was_sent);
    }
    if (!pending->timer) pending->timer.emplace(executor_);
    pending->timer->expires_at(pending->deadline);
    co_await pending->timer->async_wait(asio::as_tuple(asio::use_awaitable));
  }
  pending_.erase(id);
  co_return std::move(*pending->outcome);
}

asio::awaitable<Result<Reply>> Session::wait_for_start(std::int64_t id, Patience patience) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kLook{200};
  const auto self = shared_from_this();
  const auto until = Clock::now() + patience.at_most;
  auto last_sign = Clock::now();
  std::uint64_t signs = transport_->signs_of_life();
  while (true) {
    const bool is_unread = !transport_->has_read().value_or(true);
    if (std::exchange(signs, transport_->signs_of_life()) != signs || is_unread)
      last_sign = Clock::now();
    const auto end = std::min(last_sign + patience.quiet, until);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    auto reply = co_await wait(id, std::clamp(left, std::chrono::milliseconds(0), kLook),
                               OnTimeout::kKeepWaiting);
    if (reply || reply.error().id != ErrorId::kServerTimeout) co_return reply;
    if (left.count() <= 0) co_return reply;
  }
}

asio::awaitable<Result<Reply>> Session::request(std::string method, Json params,
                                                std::chrono::milliseconds timeout,
                                                RequestOptions options) {
  const auto self = shared_from_this();
  const auto id = begin(std::move(method), std::move(params), std::move(options));
  co_return co_await wait(id, timeout);
}

bool Session::is_answered(std::int64_t id) const {
  const auto found = pending_.find(id);
  return found != pending_.end() && found->second->outcome.has_value();
}

void Session::forget(std::int64_t id) {
  if (pending_.erase(id) > 0) transport_->abandon(id);
}

void Session::notify(std::string method, Json params, std::shared_ptr<const std::string> client) {
  if (death_) return;
  if (stateless_) params["_meta"].update(meta());
  transport_->send({.line = ipc::encode_notification(method, params),
                    .method = std::move(method),
                    .client = std::move(client)});
}

Json Session::meta() const {
  return stateless_meta(capabilities());
}

const Json& Session::capabilities_for(const CallEvents& events) const {
  return events.capabilities.is_object() ? events.capabilities : capabilities();
}

void Session::set_protocol(Era era, const std::string& version) {
  stateless_ = era == Era::kStateless;
  transport_->set_protocol(era, version);
}

bool Session::take_back(std::int64_t id, const Pending& pending, std::string_view reason) {
  pending_.erase(id);
  if (!transport_->abandon(id)) return false;
  // The specification forbids to cancel initialize; the probe is nothing that a server works on.
  if (pending.method == "initialize" || pending.method == "server/discover") return true;
  notify("notifications/cancelled", {{"requestId", id}, {"reason", reason}},
         client_of(pending.options.events));
  return true;
}

void Session::settle(std::int64_t id, Result<Reply> outcome) {
  const auto found = pending_.find(id);
  if (found == pending_.end() || found->second->outcome) return;
  const auto pending = found->second;
  pending->outcome = std::move(outcome);
  if (pending->timer) pending->timer->cancel();
  if (!pending->done) return;  // wait() has it
  pending_.erase(found);
  tell(pending);
}

// As a coroutine would go on: behind all that came with the answer, and outside of the transport,
// which the handler may end, and which would swallow what it throws.
void Session::tell(std::shared_ptr<Pending> pending) {
  asio::post(executor_,
             [pending = std::move(pending)] { pending->done(std::move(*pending->outcome)); });
}

std::string Session::take_junk(const Pending* pending) {
  std::string line = pending != nullptr ? pending->junk : std::string();
  if (line.empty()) line = first_junk_;
  if (line.empty()) return line;
  first_junk_.clear();
  for (const auto& [id, other] : pending_) other->junk.clear();
  return "where only messages belong it wrote: " + line;
}

void Session::explain(Error& error) {
  const auto add = [&error](const std::string& text) {
    if (text.empty()) return;
    if (!error.why.empty()) error.why += '\n';
    error.why += text;
  };
  const bool has_words = error.why.contains("it last wrote:");
  if (const auto words = last_words(); !words.empty() && !has_words)
    add("it last wrote:\n" + words);
  if (!error.why.contains("where only messages belong")) add(take_junk(nullptr));
}

// What the server has in work may still be answered; the connection goes on for that.
void Session::lose(std::optional<std::int64_t> id, Error error) {
  error = secrets_->redact(std::move(error));
  if (!death_) death_ = error;
  is_lost_ = true;
  const auto found = id ? pending_.find(*id) : pending_.end();
  if (found == pending_.end() || found->second->outcome) return;
  if (const auto unmade = found->second->options.events->unmade) unmade();
  settle(*id, std::unexpected(std::move(error)));
}

void Session::end(Error error) {
  if (std::exchange(has_ended_, true)) return;
  if (last_junk_.empty()) last_junk_ = first_junk_;
  if (!last_junk_.empty()) {
    error.why += fmt::format("{}where only messages belong it wrote: {}",
                             error.why.empty() ? "" : "\n", last_junk_);
    first_junk_.clear();
  }
  error = secrets_->redact(std::move(error));
  const bool is_new = !death_;
  if (is_new) death_ = error;
  clock_.stop();
  if (const auto heard = events_.ended; heard && is_new) heard(*death_);
  for (auto next = pending_.begin(); next != pending_.end();) {
    const std::int64_t id = (next++)->first;  // this one may go
    settle(id, std::unexpected(error));
  }
}

std::unexpected<Error> Session::too_late(const Pending& pending, bool was_sent) {
  if (!was_sent) {
    return failure(
        ErrorId::kServerBusy,
        fmt::format("{} waited {} ms for its turn at server {} and was not sent: more is "
                    "in work there than it takes at a time",
                    pending.method, pending.timeout.count(), server_),
        R"(fewer calls at a time, or a longer "timeout" in mcpac.json, as "120s")");
  }
  auto late = failure(ErrorId::kServerTimeout,
                      fmt::format("server {} did not answer {} within {} ms", server_,
                                  pending.method, pending.timeout.count()),
                      R"(a longer "timeout" in mcpac.json, as "120s")");
  late.error().why = take_junk(&pending);
  return late;
}

std::unexpected<Error> Session::was_cancelled(const Pending& pending, bool was_sent) const {
  auto error = failure(ErrorId::kServerCancelled, pending.method + " was cancelled");
  error.error().sent = was_sent ? Sent::kMaybeDone : Sent::kNo;
  return error;
}

std::unexpected<Error> Session::failure(ErrorId id, std::string what, std::string fix) const {
  return fail(id, std::move(what), {.where = "server " + server_, .fix = std::move(fix)});
}

asio::awaitable<void> Session::close() {
  const auto self = shared_from_this();
  events_ = {};
  end(failure(ErrorId::kServerDied, fmt::format("the connection to server {} was closed", server_))
          .error());
  co_await transport_->close();
}

void Session::kill() {
  events_ = {};
  end(failure(ErrorId::kServerDied, fmt::format("the connection to server {} was closed", server_))
          .error());
  transport_->kill();
}

}  // namespace mcpac::mcp
