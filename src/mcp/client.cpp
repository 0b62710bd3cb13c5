#include "mcp/client.h"

#include <fmt/format.h>

#include <utility>

#include <boost/asio/this_coro.hpp>

#include "mcp/http_transport.h"
#include "mcp/list_tools.h"
#include "mcp/login_of.h"
#include "mcp/negotiate.h"
#include "mcp/request_with_input.h"
#include "mcp/session.h"
#include "mcp/stdio_transport.h"
#include "mcp/tools_watch.h"

namespace mcpac::mcp {
namespace asio = boost::asio;
namespace {

// One that answers no GET before it has something to say keeps nobody longer.
constexpr std::chrono::milliseconds kUntilListening(1'000);

Error at_server(Error error, const std::string& server) {
  if (error.where.empty()) error.where = "server " + server;
  return error;
}

Result<std::shared_ptr<Session>> open_session(const asio::any_io_executor& executor,
                                              const ServerConfig& config, const Events& events) {
  auto secrets = events.earlier ? std::make_shared<SecretValues>(*events.earlier)
                                : std::make_shared<SecretValues>();
  std::shared_ptr<Transport> transport;
  if (config.is_http()) {
    auto authorizer = make_authorizer(executor, config, secrets, events.show_login);
    if (!authorizer)
      return std::unexpected(
          secrets->redact(at_server(std::move(authorizer.error()), config.name)));
    auto room = events.connections ? events.connections : std::make_shared<ConnectionRoom>();
    auto made =
        HttpTransport::make(executor, config, *secrets, std::move(*authorizer), std::move(room));
    if (!made) return std::unexpected(secrets->redact(std::move(made.error())));
    transport = std::move(*made);
  } else {
    auto target = make_stdio_target(config, *secrets);
    if (!target)
      return std::unexpected(secrets->redact(at_server(std::move(target.error()), config.name)));
    target->on_stderr = events.server_stderr;
    auto started = StdioTransport::start_server(executor, std::move(*target), secrets);
    if (!started)
      return std::unexpected(secrets->redact(at_server(std::move(started.error()), config.name)));
    transport = std::move(*started);
  }
  auto session = std::make_shared<Session>(executor, config.name, std::move(transport),
                                           std::move(secrets), events);
  session->start();
  return session;
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
    // A list is read, not worked on: who reports progress of it only keeps it going.
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
  const Events heard = heard_by(watch, events);
  auto session = open_session(executor, config, heard);
  if (!session) co_return pass_on(session);
  NegotiateOptions options;
  options.era = config.era;
  options.probe_timeout = config.probe_timeout;
  options.timeout = config.timeout;
  auto negotiated = co_await negotiate(*session, options);
  const bool died_of_probe = !negotiated && config.era == Era::kProbe && !config.is_http() &&
                             negotiated.error().id == ErrorId::kServerDied;
  if (died_of_probe) {
    session = open_session(executor, config, heard);
    if (!session) co_return pass_on(session);
    options.era = Era::kInitialize;
    negotiated = co_await negotiate(*session, options);
  }
  if (!negotiated) {
    co_await (*session)->close();
    co_return pass_on(negotiated);
  }
  auto subscribed = subscribe(*session, *negotiated, events);
  *watch = subscribed;
  // A server may ask there from the first call on, and not again where nobody listens yet.
  if (!(*session)->capabilities().empty()) co_await (*session)->until_listening(kUntilListening);
  co_return std::make_unique<ClientImpl>(std::move(*session), std::move(config),
                                         std::move(*negotiated), std::move(events),
                                         std::move(subscribed));
}

asio::awaitable<Result<std::unique_ptr<Client>>> Client::connect(asio::any_io_executor executor,
                                                                 ServerConfig config) {
  return connect(std::move(executor), std::move(config), Events());
}

}  // namespace mcpac::mcp
