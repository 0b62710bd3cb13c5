// SPDX-License-Identifier: Apache-2.0

#include "mcp/http_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "mcp/config_member.h"
#include "mcp/proxy.h"

namespace mcpac::mcp {
namespace asio = boost::asio;
namespace {

// node's servers close an idle connection after 5 seconds: leave before they do.
constexpr std::chrono::seconds kMaxIdle{4};
// As many calls go on with the connections of those before. With fewer, a burst opens those again
// that the last one's end closed, and a server that accepts one in a turn of its loop (node's do)
// lets their calls wait as long as others come on connections that it knows.
constexpr std::size_t kMaxIdleConnections = 128;
constexpr std::size_t kMaxHeldMessages = 1'000;

// An answer waits for none: the calls that have them may all wait for their answers. Nor does a
// listening (each server has a few): it has no end of its own.
bool needs_turn(const Outgoing& message) {
  return !message.is_answer() && message.method != "subscriptions/listen";
}

}  // namespace

Result<std::shared_ptr<HttpTransport>> HttpTransport::make(
    asio::any_io_executor executor, const ServerConfig& config, SecretValues& secrets,
    std::shared_ptr<oauth::Authorizer> authorizer, std::shared_ptr<ConnectionRoom> room) {
  const auto place = fmt::format("mcpServers.{}", config.name);
  auto text = secrets.expand(config.url, place + ".url");
  if (!text) return pass_on(text);
  auto url = parse_url(*text);
  if (!url) {
    url.error().where = place + ".url";
    return pass_on(url);
  }
  HttpState state{.url = std::move(*url), .headers = {}, .version = {}, .session_id = {}};
  for (const auto& [name, value] : config.headers) {
    auto expanded = secrets.expand(value, fmt::format("{}.headers.{}", place, name));
    if (!expanded) return pass_on(expanded);
    if (!is_header_name(name) || is_reserved_header(name) || !is_header_value(*expanded)) {
      return fail(ErrorId::kConfigInvalid, fmt::format("the header \"{}\" cannot be sent", name),
                  {.where = fmt::format("{}.headers.{}", place, name),
                   .why = "its value holds a line break or another control character, or the "
                          "transport sets it itself"});
    }
    state.headers.emplace(name, std::move(*expanded));
  }
  if (auto proxy = proxy_for(state.url); !proxy) return pass_on(proxy);
  know_proxies(secrets);
  std::shared_ptr<asio::ssl::context> tls;
  if (state.url.tls) {
    auto made = make_tls_context();
    if (!made) return pass_on(made);
    tls = std::move(*made);
  }
  return std::shared_ptr<HttpTransport>(
      new HttpTransport(std::move(executor), config.name, std::move(state), config.shutdown_grace,
                        std::move(tls), std::move(authorizer), std::move(room)));
}

HttpTransport::HttpTransport(asio::any_io_executor executor, std::string server, HttpState state,
                             std::chrono::milliseconds grace,
                             std::shared_ptr<asio::ssl::context> tls,
                             std::shared_ptr<oauth::Authorizer> authorizer,
                             std::shared_ptr<ConnectionRoom> room)
    : executor_(std::move(executor)),
      server_(std::move(server)),
      state_(std::move(state)),
      grace_(grace),
      tls_(std::move(tls)),
      authorizer_(std::move(authorizer)),
      room_(std::move(room)),
      turns_(room_),
      idle_watch_(executor_) {}

HttpTransport::~HttpTransport() {
  kill();
}

HttpTransport::Lease::Lease(HttpTransport& transport, std::optional<std::int64_t> id)
    : transport_(transport), id_(id) {
  auto& idle = transport_.idle_;
  const auto now = std::chrono::steady_clock::now();
  while (!idle.empty() && !connection_) {
    Idle last = std::move(idle.back());
    idle.pop_back();
    transport_.room_->drop(1);
    if (now - last.since < kMaxIdle && last.connection->is_reusable()) {
      connection_ = std::move(last.connection);
    } else {
      last.connection->close();
    }
  }
  if (!connection_) {
    connection_ =
        HttpConnection::make(transport_.executor_, transport_.state_.url, transport_.tls_);
    is_new_ = true;
  }
  transport_.active_.insert(connection_);
  if (id_) transport_.carrier_[*id_] = connection_;
}

HttpTransport::Lease::~Lease() {
  transport_.active_.erase(connection_);
  if (id_) transport_.carrier_.erase(*id_);
  transport_.keep_idle(std::move(connection_));
}

void HttpTransport::keep_idle(Connection connection) {
  if (closed_ || is_lost_ || idle_.size() >= kMaxIdleConnections || !connection->is_reusable() ||
      !room_->keep())
    return connection->close();
  idle_.push_back({std::move(connection), std::chrono::steady_clock::now()});
  watch_idle();
}

// The oldest is the first of them. One timer, set again when it is over and not with every call. It
// holds nothing: a transport may go with it set.
void HttpTransport::watch_idle() {
  if (is_watching_idle_ || idle_.empty()) return;
  is_watching_idle_ = true;
  idle_watch_.expires_at(idle_.front().since + kMaxIdle);
  idle_watch_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (!self) return;
    self->is_watching_idle_ = false;
    if (error) return;
    const auto now = std::chrono::steady_clock::now();
    self->room_->drop(std::erase_if(self->idle_, [now](const Idle& idle) {
      const bool is_over = now - idle.since >= kMaxIdle;
      if (is_over) idle.connection->close();
      return is_over;
    }));
    self->watch_idle();
  });
}

void HttpTransport::start(TransportEvents events) {
  events_ = std::make_shared<const TransportEvents>(std::move(events));
}

void HttpTransport::set_protocol(Era era, const std::string& version) {
  state_.era = era;
  state_.version = version;
}

void HttpTransport::send(Outgoing message) {
  if (closed_) return;
  // In the stateless era a request is taken back by closing its stream, which abandon() does.
  if (state_.era == Era::kStateless && message.method == "notifications/cancelled") return;
  if (message.is_answer() && !answers_.add(message.line.size())) {
    message.line = std::exchange(message.shorter, {});
    if (message.line.empty() || !answers_.add(message.line.size()))
      return give_up(failure(ErrorId::kServerLimit, AnswersUnderWay::too_many()).error());
  }
  if (message.request_id) live_.insert(*message.request_id);
  if (holding_ && held_.size() < kMaxHeldMessages) return held_.push_back(std::move(message));
  if (message.method == "notifications/initialized") holding_ = true;
  send_in_turn(std::move(message));
}

void HttpTransport::send_in_turn(Outgoing message) {
  if (!needs_turn(message)) return spawn_post(std::move(message));
  if (auto now = turns_.take(std::move(message))) spawn_post(std::move(*now));
  if (turns_.has_waiting()) go_on();
}

void HttpTransport::spawn_post(Outgoing message) {
  // Posted, so that no callback comes out of send() itself.
  asio::post(executor_, [self = shared_from_this(), message = std::move(message)]() mutable {
    const bool has_turn = needs_turn(message);
    const auto client = message.client;
    asio::co_spawn(self->executor_, self->post(std::move(message)),
                   [self, has_turn, client](const std::exception_ptr&) {
                     if (has_turn) self->end_turn(client);
                   });
  });
}

void HttpTransport::end_turn(const HttpTurns::Client& client) {
  turns_.end(client);
  go_on();
  room_->ring();
}

void HttpTransport::go_on() {
  while (!closed_) {
    auto next = turns_.next();
    if (!next) break;
    spawn_post(std::move(*next));
  }
  // Another server's call may be the one that ends first.
  if (!turns_.has_waiting() || std::exchange(waits_for_room_, true)) return;
  room_->on_room([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->waits_for_room_ = false;
    self->go_on();
  });
}

bool HttpTransport::is_live(const Outgoing& message) const {
  return !closed_ && (!message.request_id || live_.contains(*message.request_id));
}

asio::awaitable<void> HttpTransport::post(Outgoing message) {
  const auto self = shared_from_this();
  const std::size_t bytes = message.line.size();
  Result<void> done;
  if (is_lost_ && message.request_id) lose_session(message.request_id, 404);  // it would be refused
  if (is_lost_ && message.request_id) live_.erase(*message.request_id);
  if (is_live(message)) done = co_await deliver_authorized(message);
  if (message.is_answer()) answers_.remove(bytes);
  if (message.method == "notifications/initialized") release_held();
  if (!is_live(message) || !message.request_id) co_return;
  live_.erase(*message.request_id);
  if (done) co_return;
  const auto events = events_;
  events->on_request_failed(*message.request_id, std::move(done.error()));
}

void HttpTransport::release_held() {
  holding_ = false;
  while (!held_.empty() && !closed_) {
    Outgoing next = std::move(held_.front());
    held_.pop_front();
    send_in_turn(std::move(next));
  }
}

bool HttpTransport::abandon(std::int64_t request_id) {
  live_.erase(request_id);
  if (turns_.take_out(request_id)) return false;
  if (const auto found = carrier_.find(request_id); found != carrier_.end()) {
    found->second->close();
  }
  return true;
}

void HttpTransport::listen() {
  if (closed_ || state_.era == Era::kStateless) return;
  asio::post(executor_, [self = shared_from_this()] {
    asio::co_spawn(self->executor_, self->listen_loop(), asio::detached);
  });
}

asio::awaitable<void> HttpTransport::until_listening(std::chrono::milliseconds at_most) {
  const auto self = shared_from_this();
  if (closed_ || is_stream_settled_ || state_.era == Era::kStateless) co_return;
  asio::steady_timer timer(executor_, at_most);
  timers_.insert(&timer);
  stream_wait_ = &timer;
  co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  stream_wait_ = nullptr;
  timers_.erase(&timer);
}

void HttpTransport::stream_settled() {
  is_stream_settled_ = true;
  if (stream_wait_ != nullptr) stream_wait_->cancel();
}

asio::awaitable<void> HttpTransport::close() {
  const auto self = shared_from_this();
  if (!closed_ && !is_lost_ && !state_.session_id.empty()) co_await delete_session();
  kill();
}

// Courtesy to the server: it may forget the session now. Whether it does is its own business.
asio::awaitable<void> HttpTransport::delete_session() {
  Lease lease(*this, std::nullopt);
  const Connection connection = lease.connection();
  asio::steady_timer limit(executor_, grace_);
  limit.async_wait([connection](const boost::system::error_code& error) {
    if (!error) connection->close();
  });
  HttpRequest request = make_delete(state_);
  authorize(request);
  state_.session_id.clear();
  if (lease.is_new()) {
    auto opened = co_await connection->open();
    if (!opened) co_return;
  }
  co_await connection->exchange(std::move(request));
}

void HttpTransport::kill() {
  closed_ = true;
  held_.clear();
  live_.clear();
  turns_.clear();
  for (const auto& connection : active_) connection->close();
  for (const auto& idle : idle_) idle.connection->close();
  room_->drop(idle_.size());
  idle_.clear();
  idle_watch_.cancel();
  for (auto* timer : timers_) timer->cancel();
}

void HttpTransport::give_up(Error error) {
  kill();
  // Posted, so that no callback comes out of send() itself.
  asio::post(executor_, [events = events_, error = std::move(error)]() mutable {
    events->on_closed(std::move(error));
  });
}

std::unexpected<Error> HttpTransport::failure(ErrorId id, std::string what, std::string why,
                                              std::string fix) const {
  return fail(id, fmt::format("server {}: {}", server_, what),
              {.where = "server " + server_, .why = std::move(why), .fix = std::move(fix)});
}

}  // namespace mcpac::mcp
