// SPDX-License-Identifier: Apache-2.0

#include "mcp/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/steady_timer.hpp>

#include "core/backoff.h"
#include "core/json.h"
#include "mcp/child_process.h"
#include "mcp/http_transport.h"
#include "mcp/list_tools.h"
#include "mcp/login_of.h"
#include "mcp/negotiate.h"
#include "mcp/protocol.h"
#include "mcp/request_with_input.h"
#include "mcp/session.h"
#include "mcp/stdio_transport.h"

namespace mcpac::mcp {
namespace {

// ToolsWatch: the subscription by which a server of 2026-07-28 says that its tools changed.
//
// It stands as long as the session does: a server, or a proxy on the way, ends it when it likes,
// and what changed then would never be heard. So it is begun again, with pauses that grow while it
// does not last; and each time that it stands again the tools are compared once, since they may
// have changed in between. On the executor's one thread.
class ToolsWatch : public std::enable_shared_from_this<ToolsWatch> {
 public:
  // `changed`: the tools may be others.
  ToolsWatch(std::shared_ptr<Session> session, std::function<void()> changed);
  ToolsWatch(const ToolsWatch&) = delete;
  ToolsWatch& operator=(const ToolsWatch&) = delete;

  void begin();
  // `notifications/subscriptions/acknowledged`; false: it is about another one.
  [[nodiscard]] bool acknowledged(const Json& params);
  void stop();

 private:
  void stands();
  void ended();
  void after(std::chrono::milliseconds time, void (ToolsWatch::*then)());

  std::shared_ptr<Session> session_;
  std::function<void()> changed_;
  boost::asio::steady_timer timer_;
  std::int64_t id_ = 0;
  bool is_open_ = false;   // asked for, and not ended
  bool is_again_ = false;  // there was one before
  bool is_told_ = false;   // that this one stands
  bool stopped_ = false;
  std::chrono::steady_clock::time_point begun_;
  ExponentialBackoff backoff_{std::chrono::milliseconds(100), std::chrono::minutes(10)};
};

// A server that does not say that it listens is taken to do so by then.
constexpr std::chrono::milliseconds kAcknowledges = std::chrono::seconds(10);
// A request must have some time; this one has no end of its own.
constexpr std::chrono::milliseconds kStanding = std::chrono::hours(24);

ToolsWatch::ToolsWatch(std::shared_ptr<Session> session, std::function<void()> changed)
    : session_(std::move(session)), changed_(std::move(changed)), timer_(session_->executor()) {}

void ToolsWatch::begin() {
  if (stopped_ || session_->is_dead()) return;
  is_open_ = true;
  is_told_ = false;
  begun_ = std::chrono::steady_clock::now();
  Json params = Json::object();
  params["notifications"]["toolsListChanged"] = true;
  id_ = session_->begin_then("subscriptions/listen", params, RequestOptions(), kStanding,
                             [weak = weak_from_this()](const Result<Reply>&) {
                               if (const auto self = weak.lock()) self->ended();
                             });
  // The first one has no waiter: the tools are listed after it was asked for.
  if (is_again_) after(kAcknowledges, &ToolsWatch::stands);
}

bool ToolsWatch::acknowledged(const Json& params) {
  const Json* meta = find_member(params, "_meta");
  const Json* id = meta == nullptr ? nullptr : find_member(*meta, kMetaSubscription);
  if (id != nullptr && *id != id_) return false;
  const Json* agreed = find_member(params, "notifications");
  // Without a number it is known by what it is about.
  if (id == nullptr && (agreed == nullptr || !agreed->contains("toolsListChanged"))) return false;
  stands();
  return true;
}

void ToolsWatch::stands() {
  if (!is_open_ || session_->is_dead()) return;
  if (std::exchange(is_told_, true) || !is_again_) return;
  timer_.cancel();
  changed_();
}

void ToolsWatch::ended() {
  is_open_ = false;
  is_again_ = true;
  if (stopped_ || session_->is_dead()) return;
  const auto stood = std::chrono::steady_clock::now() - begun_;
  // A refusal that took its time is none that lasted.
  if (stood > kAcknowledges && stood > backoff_.last()) backoff_.reset();
  after(backoff_.next(), &ToolsWatch::begin);
}

void ToolsWatch::after(std::chrono::milliseconds time, void (ToolsWatch::*then)()) {
  timer_.expires_after(time);
  timer_.async_wait([weak = weak_from_this(), then](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (!error && self) ((*self).*then)();
  });
}

void ToolsWatch::stop() {
  stopped_ = true;
  timer_.cancel();
}

}  // namespace

namespace asio = boost::asio;
namespace {

// One that answers no GET before it has something to say is waited for no longer.
constexpr std::chrono::milliseconds kUntilListening(1'000);

Error at_server(Error error, const std::string& server) {
  if (error.where.empty()) error.where = "server " + server;
  return error;
}

// All of it outlives this.
asio::awaitable<Result<std::shared_ptr<Session>>> open_session(
    const asio::any_io_executor& executor, const ServerConfig& config, const Events& events) {
  auto secrets = events.earlier ? std::make_shared<SecretValues>(*events.earlier)
                                : std::make_shared<SecretValues>();
  std::shared_ptr<Transport> transport;
  if (config.is_http()) {
    auto authorizer = make_authorizer(executor, config, secrets, events.show_login);
    if (!authorizer)
      co_return std::unexpected(
          secrets->redact(at_server(std::move(authorizer.error()), config.name)));
    auto room = events.connections ? events.connections : std::make_shared<ConnectionRoom>();
    auto made =
        HttpTransport::make(executor, config, *secrets, std::move(*authorizer), std::move(room));
    if (!made) co_return std::unexpected(secrets->redact(std::move(made.error())));
    transport = std::move(*made);
  } else {
    auto target = make_stdio_target(config, *secrets);
    if (!target)
      co_return std::unexpected(secrets->redact(at_server(std::move(target.error()), config.name)));
    target->on_stderr = events.server_stderr;
    auto started = co_await StdioTransport::start_server(executor, std::move(*target), secrets);
    if (!started)
      co_return std::unexpected(
          secrets->redact(at_server(std::move(started.error()), config.name)));
    transport = std::move(*started);
  }
  auto session = std::make_shared<Session>(executor, config.name, std::move(transport),
                                           std::move(secrets), events);
  session->start();
  co_return session;
}

class ClientImpl final : public Client {
 public:
  ClientImpl(std::shared_ptr<Session> session, ServerConfig config, Negotiated negotiated,
             Events events, std::shared_ptr<ToolsWatch> watch)
      : session_(std::move(session)),
        watch_(std::move(watch)),
        config_(std::move(config)),
        negotiated_(std::move(negotiated)),
        warned_(std::move(events.warned)) {}
  ClientImpl(const ClientImpl&) = delete;
  ClientImpl& operator=(const ClientImpl&) = delete;
  ~ClientImpl() override { session_->kill(); }

  asio::awaitable<Result<ServerListing>> list_tools() override {
    return mcp::list_tools(session_, config_, negotiated_, mirrored_, warned_);
  }

  asio::awaitable<Result<Json>> call_tool(std::string tool, Json arguments,
                                          std::chrono::milliseconds timeout,
                                          CallEvents events) override {
    auto options = options_of(tool, arguments, std::move(events));
    return call(session_, std::move(options), params_of(std::move(tool), std::move(arguments)),
                timeout);
  }

  void start_call(ToolCall call, std::function<void(Result<Json>)> done,
                  asio::cancellation_slot slot) override {
    auto options = options_of(call.tool, call.arguments, std::move(call.events));
    start_with_input(session_,
                     {.method = "tools/call",
                      .params = params_of(std::move(call.tool), std::move(call.arguments)),
                      .timeout = call.timeout,
                      .options = std::move(options),
                      .slot = slot,
                      .done = [done = std::move(done)](Result<Reply> reply) {
                        if (!reply) return done(pass_on(reply));
                        done(std::move(reply->result));
                      }});
  }

  asio::awaitable<Result<Outcome>> request(std::string method, Json params,
                                           std::chrono::milliseconds timeout,
                                           CallEvents events) override {
    RequestOptions options;
    options.name = string_member(params, method == "resources/read" ? "uri" : "name");
    // A list is read, not worked on: a report of progress only keeps it going.
    options.wants_progress = !method.ends_with("/list");
    options.keeps_errors = true;
    options.events = std::make_shared<const CallEvents>(std::move(events));
    if (params.is_null()) params = Json::object();
    return ask(session_, std::move(method), std::move(params), timeout, std::move(options));
  }

  asio::awaitable<void> close() override {
    if (watch_) watch_->stop();
    return close_session(session_);
  }

  [[nodiscard]] const std::string& protocol_version() const override { return negotiated_.version; }
  [[nodiscard]] const Json& capabilities() const override { return negotiated_.capabilities; }
  [[nodiscard]] bool is_alive() const override { return !session_->is_dead(); }
  [[nodiscard]] bool has_lost_session() const override { return session_->is_lost(); }
  [[nodiscard]] bool is_idle() const override { return session_->is_idle(); }
  [[nodiscard]] const SecretValues& secrets() const override { return session_->secrets(); }

 private:
  [[nodiscard]] RequestOptions options_of(const std::string& tool, const Json& arguments,
                                          CallEvents events) const {
    RequestOptions options;
    options.name = tool;
    options.wants_progress = true;
    options.events = std::make_shared<const CallEvents>(std::move(events));
    if (const auto known = mirrored_->find(tool); known != mirrored_->end())
      options.headers = param_headers(known->second, arguments);
    return options;
  }
  [[nodiscard]] static Json params_of(std::string tool, Json arguments) {
    Json params = Json::object();
    params["name"] = std::move(tool);
    params["arguments"] = arguments.is_null() ? Json::object() : std::move(arguments);
    return params;
  }
  // Static, with all they need as values: the client may go while one of them is under way.
  static asio::awaitable<Result<Json>> call(std::shared_ptr<Session> session,
                                            RequestOptions options, Json params,
                                            std::chrono::milliseconds timeout);
  static asio::awaitable<Result<Outcome>> ask(std::shared_ptr<Session> session, std::string method,
                                              Json params, std::chrono::milliseconds timeout,
                                              RequestOptions options);
  static asio::awaitable<void> close_session(std::shared_ptr<Session> session) {
    co_await session->close();
  }

  std::shared_ptr<Session> session_;
  std::shared_ptr<ToolsWatch> watch_;  // or null
  ServerConfig config_;
  Negotiated negotiated_;
  OnWarning warned_;
  std::shared_ptr<ParamHeaders> mirrored_ = std::make_shared<ParamHeaders>();
};

asio::awaitable<Result<Json>> ClientImpl::call(std::shared_ptr<Session> session,
                                               RequestOptions options, Json params,
                                               std::chrono::milliseconds timeout) {
  auto reply = co_await request_with_input(session, "tools/call", std::move(params), timeout,
                                           std::move(options));
  if (!reply) co_return pass_on(reply);
  co_return std::move(reply->result);
}

asio::awaitable<Result<Outcome>> ClientImpl::ask(std::shared_ptr<Session> session,
                                                 std::string method, Json params,
                                                 std::chrono::milliseconds timeout,
                                                 RequestOptions options) {
  auto reply = co_await request_with_input(session, std::move(method), std::move(params), timeout,
                                           std::move(options));
  if (!reply) co_return pass_on(reply);
  if (reply->refusal) co_return Outcome(std::unexpected(std::move(*reply->refusal)));
  co_return Outcome(std::move(reply->result));
}

// Says of a start that takes long what is waited for, until it goes.
class SlowStart {
 public:
  using Say = std::function<void(std::string_view text)>;
  SlowStart(const asio::any_io_executor& executor, const ServerConfig& config, Say say)
      : timer_(executor),
        server_(config.name),
        say_(std::move(say)),
        backoff_(config.slow_start, kLongest) {}

  void watch(const std::shared_ptr<Session>& session) {
    session_ = session;
    begun_ = std::chrono::steady_clock::now();
    backoff_.reset();
    if (say_) wait();
  }

 private:
  static constexpr std::chrono::milliseconds kLongest{60'000};

  void wait() {
    timer_.expires_after(backoff_.next());
    timer_.async_wait(
        [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
          if (error || alive.expired()) return;
          const auto session = session_.lock();
          if (!session || session->is_dead()) return;
          const auto passed =
              std::chrono::round<std::chrono::seconds>(std::chrono::steady_clock::now() - begun_);
          const auto words = session->last_words();
          say_(fmt::format("the server {} has not answered for {} s since its start{}{}", server_,
                           passed.count(),
                           words.empty() ? ", and wrote nothing" : "; it last wrote:\n", words));
          wait();
        });
  }

  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  asio::steady_timer timer_;
  std::string server_;
  Say say_;
  std::weak_ptr<Session> session_;
  std::chrono::steady_clock::time_point begun_;
  ExponentialBackoff backoff_;
};

// Second attempt for a server that could not be opened, in another process; nothing: it failed.
std::optional<Era> next_try(const NegotiateOptions& tried, bool is_known, bool was_silent,
                            ErrorId failed) {
  const bool is_refused = failed == ErrorId::kServerError || failed == ErrorId::kServerProtocol;
  // The question may have broken it.
  const bool may_be_broken =
      is_refused || failed == ErrorId::kServerDied || failed == ErrorId::kServerTimeout;
  if (tried.era == Era::kProbe && tried.is_process && may_be_broken) return Era::kInitialize;
  if (tried.era == Era::kInitialize && is_known && (is_refused || failed == ErrorId::kServerHttp))
    return Era::kProbe;
  // It may only have been slow to say that it speaks the other one.
  if (tried.era == Era::kInitialize && was_silent && failed == ErrorId::kServerError)
    return Era::kStateless;
  return std::nullopt;
}

// A session in which the first words were exchanged.
struct Opened {
  Opened(std::shared_ptr<Session> s, Negotiated n)
      : session(std::move(s)), negotiated(std::move(n)) {}
  std::shared_ptr<Session> session;
  Negotiated negotiated;
};

asio::awaitable<Result<Opened>> open(asio::any_io_executor executor, ServerConfig config,
                                     Events events) {
  const Finding found(config, "initialize");
  NegotiateOptions options;
  options.era = config.era;
  options.probe_timeout = config.probe_timeout;
  options.timeout = config.timeout;
  options.is_process = !config.is_http();
  bool is_known = config.era == Era::kProbe && found.is_kept();
  if (is_known) options.era = Era::kInitialize;
  bool was_silent = false;
  SlowStart slow(executor, config, events.starts_slowly);
  std::optional<Error> first;  // refusal of `initialize`
  while (true) {
    auto session = co_await open_session(executor, config, events);
    if (!session) co_return pass_on(session);
    slow.watch(*session);
    auto tried = co_await negotiate(*session, options);
    was_silent = was_silent || tried.was_silent;
    if (tried.outcome) {
      // Of one that was started for `initialize` alone the question had a price.
      const bool had_price = was_silent || (config.era == Era::kProbe && options.is_process &&
                                            options.era == Era::kInitialize);
      if (!is_known && had_price && tried.outcome->era == Era::kInitialize) found.keep();
      co_return Opened(std::move(*session), std::move(*tried.outcome));
    }
    Error error = std::move(tried.outcome.error());
    (*session)->explain(error);
    const auto next = config.era == Era::kProbe ? next_try(options, is_known, was_silent, error.id)
                                                : std::nullopt;
    // What is started anew is not waited for: it has not understood the first words.
    if (next)
      (*session)->kill();
    else
      co_await (*session)->close();
    if (std::exchange(is_known, false)) found.forget();
    if (!next) co_return std::unexpected(first ? std::move(*first) : std::move(error));
    if (*next == Era::kStateless) first = std::move(error);
    options.era = *next;
  }
}

// Why a confined server's start failed may be what it was refused: it is started once more and
// looked at, in the same sandbox, which a start that went well never is. Not longer than some
// seconds, however slow it is.
asio::awaitable<void> look_once_more(asio::any_io_executor executor, ServerConfig config,
                                     Error& error) {
  constexpr std::chrono::milliseconds kMostPatience{1'500};
  const bool may_be_refused =
      error.id == ErrorId::kServerDied || error.id == ErrorId::kServerTimeout;
  if (!config.sandbox || !config.confiner || config.observer || !may_be_refused) co_return;
  const auto refusals = config.confiner->look_at_refusals(config.name);
  if (!refusals) co_return;
  config.observer = refusals;
  config.timeout = std::min(config.timeout, kMostPatience);
  config.shutdown_grace = std::min(config.shutdown_grace, kMostPatience);
  NegotiateOptions options;
  options.era = config.era == Era::kStateless ? Era::kStateless : Era::kInitialize;
  options.timeout = config.timeout;
  options.is_process = true;
  Events unheard;
  auto session = co_await open_session(executor, config, unheard);
  if (!session) co_return;
  const auto tried = co_await negotiate(*session, options);
  co_await (*session)->close();
  refusals->explain(error);
  SecretValues secrets;
  if (const auto expanded = make_stdio_target(config, secrets); expanded)
    error = secrets.redact(std::move(error));
}

using KnownWatch = std::shared_ptr<std::weak_ptr<ToolsWatch>>;

// The same, and the watch hears what is about itself.
Events heard_by(const KnownWatch& watch, Events events) {
  if (!events.tools_changed) return events;
  events.notified = [watch, notified = std::move(events.notified)](const std::string& method,
                                                                   const Json& params) {
    const auto known = watch->lock();
    const bool is_its = known && method == "notifications/subscriptions/acknowledged" &&
                        known->acknowledged(params);
    if (!is_its && notified) notified(method, params);
  };
  return events;
}

// Where notifications need a channel of their own, opens it; what stands for it, or null.
std::shared_ptr<ToolsWatch> subscribe(const std::shared_ptr<Session>& session,
                                      const Negotiated& negotiated, const Events& events) {
  const bool watches = events.tools_changed && negotiated.announces_changes;
  // Some servers ask on this stream although the call has one of its own.
  const bool answers = !session->capabilities().empty() || events.notified;
  if (negotiated.era == Era::kInitialize) {
    if (watches || answers) session->listen();
    return nullptr;
  }
  if (!watches) return nullptr;
  auto watch = std::make_shared<ToolsWatch>(session, events.tools_changed);
  watch->begin();
  return watch;
}

}  // namespace

asio::awaitable<Result<std::unique_ptr<Client>>> Client::connect(asio::any_io_executor executor,
                                                                 ServerConfig config,
                                                                 Events events) {
  const auto watch = std::make_shared<std::weak_ptr<ToolsWatch>>();
  auto opened = co_await open(executor, config, heard_by(watch, events));
  if (!opened) {
    co_await look_once_more(executor, config, opened.error());
    co_return pass_on(opened);
  }
  const auto session = std::move(opened->session);
  auto subscribed = subscribe(session, opened->negotiated, events);
  *watch = subscribed;
  // A server may ask there from the first call on, and not again where no stream listens yet.
  if (!session->capabilities().empty()) co_await session->until_listening(kUntilListening);
  co_return std::make_unique<ClientImpl>(session, std::move(config), std::move(opened->negotiated),
                                         std::move(events), std::move(subscribed));
}

asio::awaitable<Result<std::unique_ptr<Client>>> Client::connect(asio::any_io_executor executor,
                                                                 ServerConfig config) {
  return connect(std::move(executor), std::move(config), Events());
}

}  // namespace mcpac::mcp
