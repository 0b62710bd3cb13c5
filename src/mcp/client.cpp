#include "mcp/client.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include <boost/asio/this_coro.hpp>

#include "core/printable.h"
#include "mcp/http_transport.h"
#include "mcp/negotiate.h"
#include "mcp/session.h"
#include "mcp/stdio_transport.h"

namespace mcpac::mcp {
namespace asio = boost::asio;
namespace {

// Of 100 real servers the largest offers about 200 tools on one page.
constexpr std::size_t kMaxPages = 1'000;
constexpr std::size_t kMaxTools = 20'000;
constexpr std::size_t kMaxListingBytes = std::size_t{64} << 20U;

Error at_server(Error error, const std::string& server) {
  if (error.where.empty()) error.where = "server " + server;
  return error;
}

Result<std::shared_ptr<Session>> open_session(const asio::any_io_executor& executor,
                                              const ServerConfig& config, const Events& events) {
  auto secrets = std::make_shared<SecretValues>();
  std::shared_ptr<Transport> transport;
  if (config.is_http()) {
    auto made = HttpTransport::make(executor, config, *secrets);
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

// Adds one page to the listing. Every entry is a claim of the server: only what the rest of mcpac
// relies on is checked, a name and an object.
Result<void> add_page(ServerListing& listing, std::set<std::string>& names, OrderedJson& page,
                      const std::string& server) {
  const auto refuse = [&server](ErrorId id, std::string what) {
    return fail(id, fmt::format("server {}: {}", server, what), {.where = "server " + server});
  };
  const auto tools = page.find("tools");
  if (tools == page.end() || !tools->is_array()) {
    return refuse(ErrorId::kServerProtocol, "tools/list answered without an array of tools");
  }
  for (auto& tool : *tools) {
    const auto name = tool.is_object() ? tool.find("name") : tool.end();
    if (!tool.is_object() || name == tool.end() || !name->is_string() ||
        name->get_ref<const std::string&>().empty()) {
      return refuse(ErrorId::kServerProtocol,
                    fmt::format("tool number {} has no name", listing.tools.size() + 1));
    }
    const auto text = name->get<std::string>();
    if (!names.insert(text).second) {
      return refuse(ErrorId::kServerProtocol,
                    fmt::format("two tools have the name \"{}\"", printable(text, 100)));
    }
    if (listing.tools.size() >= kMaxTools) {
      return refuse(ErrorId::kServerLimit, fmt::format("more than {} tools", kMaxTools));
    }
    listing.tools.push_back({text, std::move(tool)});
  }
  return {};
}

class ClientImpl final : public Client {
 public:
  ClientImpl(std::shared_ptr<Session> session, ServerConfig config, Negotiated negotiated)
      : session_(std::move(session)),
        config_(std::move(config)),
        negotiated_(std::move(negotiated)) {}
  ClientImpl(const ClientImpl&) = delete;
  ClientImpl& operator=(const ClientImpl&) = delete;
  ~ClientImpl() override { session_->kill(); }

  asio::awaitable<Result<ServerListing>> list_tools() override {
    return list_all(session_, config_, negotiated_);
  }

  asio::awaitable<Result<Json>> call_tool(std::string tool, Json arguments,
                                          std::chrono::milliseconds timeout,
                                          OnProgress heard) override {
    RequestOptions options;
    options.name = tool;
    options.wants_progress = true;
    options.heard = std::move(heard);
    return call(session_, std::move(options), std::move(arguments), timeout);
  }

  asio::awaitable<void> close() override { return close_session(session_); }

  [[nodiscard]] const std::string& protocol_version() const override { return negotiated_.version; }
  [[nodiscard]] bool is_alive() const override { return !session_->is_dead(); }
  [[nodiscard]] const SecretValues& secrets() const override { return session_->secrets(); }

 private:
  // Static, with all they need as values: the client may go while one of them is under way.
  static asio::awaitable<Result<ServerListing>> list_all(std::shared_ptr<Session> session,
                                                         ServerConfig config,
                                                         Negotiated negotiated);
  static asio::awaitable<Result<Json>> call(std::shared_ptr<Session> session,
                                            RequestOptions options, Json arguments,
                                            std::chrono::milliseconds timeout);
  static asio::awaitable<void> close_session(std::shared_ptr<Session> session) {
    co_await session->close();
  }

  std::shared_ptr<Session> session_;
  ServerConfig config_;
  Negotiated negotiated_;
};

asio::awaitable<Result<ServerListing>> ClientImpl::list_all(std::shared_ptr<Session> session,
                                                            ServerConfig config,
                                                            Negotiated negotiated) {
  ServerListing listing{.server = config.name,
                        .identity = config.identity(),
                        .implementation = negotiated.implementation,
                        .protocol_version = negotiated.version,
                        .tools = {}};
  std::set<std::string> names;
  std::set<std::string> cursors;
  std::size_t bytes = 0;
  Json params = Json::object();
  for (std::size_t page = 0; page < kMaxPages; ++page) {
    RequestOptions options;
    options.keeps_order = true;
    auto reply = co_await session->request("tools/list", params, config.timeout, options);
    if (!reply) {
      const bool none =
          reply.error().id == ErrorId::kServerError && !negotiated.declares_tools && page == 0;
      if (none) co_return listing;  // a server of resources or prompts alone
      co_return pass_on(reply);
    }
    bytes += reply->size;
    auto added = add_page(listing, names, reply->ordered, config.name);
    if (!added) co_return pass_on(added);
    const auto cursor = string_member(reply->result, "nextCursor");
    if (cursor.empty()) co_return listing;
    if (!cursors.insert(cursor).second) {
      co_return fail(ErrorId::kServerProtocol,
                     fmt::format("server {}: tools/list goes round in circles", config.name),
                     {.where = "server " + config.name, .why = "a nextCursor came twice"});
    }
    if (bytes > kMaxListingBytes) break;
    params["cursor"] = cursor;
  }
  co_return fail(
      ErrorId::kServerLimit, fmt::format("server {}: tools/list does not end", config.name),
      {.where = "server " + config.name,
       .why =
           fmt::format("the limits are {} pages and {} MiB", kMaxPages, kMaxListingBytes >> 20U)});
}

// What a revision of 2026-07-28 calls an incomplete result.
Result<Json> complete(Json result, const std::string& server, const std::string& tool) {
  const auto type = string_member(result, "resultType", "complete");
  if (type == "complete") return result;
  if (type == "input_required") {
    return fail(ErrorId::kServerError,
                fmt::format("server {}: the tool \"{}\" asks for input before it goes on", server,
                            printable(tool, 100)),
                {.where = "server " + server,
                 .why = "it answered input_required; mcpac offers servers no way to ask a person"});
  }
  return fail(ErrorId::kServerProtocol,
              fmt::format("server {}: the tool \"{}\" answered with the unknown result type \"{}\"",
                          server, printable(tool, 100), printable(type, 40)),
              {.where = "server " + server});
}

asio::awaitable<Result<Json>> ClientImpl::call(std::shared_ptr<Session> session,
                                               RequestOptions options, Json arguments,
                                               std::chrono::milliseconds timeout) {
  const auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none) {
    co_return fail(ErrorId::kServerCancelled, "tools/call was cancelled before it began");
  }
  const std::string tool = options.name;
  Json params = Json::object();
  params["name"] = tool;
  params["arguments"] = arguments.is_null() ? Json::object() : std::move(arguments);
  auto reply =
      co_await session->request("tools/call", std::move(params), timeout, std::move(options));
  if (!reply) co_return pass_on(reply);
  co_return complete(std::move(reply->result), session->server(), tool);
}

// Where notifications need a channel of their own, opens it.
void subscribe(Session& session, const Negotiated& negotiated) {
  if (!negotiated.announces_changes) return;
  if (negotiated.era == Era::kInitialize) return session.listen();
  Json params = Json::object();
  params["notifications"]["toolsListChanged"] = true;
  session.begin("subscriptions/listen", std::move(params));  // answered when it ends
}

}  // namespace

asio::awaitable<Result<std::unique_ptr<Client>>> Client::connect(asio::any_io_executor executor,
                                                                 ServerConfig config,
                                                                 Events events) {
  auto session = open_session(executor, config, events);
  if (!session) co_return pass_on(session);
  NegotiateOptions options;
  options.era = config.era;
  options.probe_timeout = config.probe_timeout;
  options.timeout = config.timeout;
  auto negotiated = co_await negotiate(*session, options);
  const bool died_of_probe = !negotiated && config.era == Era::kProbe && !config.is_http() &&
                             negotiated.error().id == ErrorId::kServerDied;
  if (died_of_probe) {
    session = open_session(executor, config, events);
    if (!session) co_return pass_on(session);
    options.era = Era::kInitialize;
    negotiated = co_await negotiate(*session, options);
  }
  if (!negotiated) {
    co_await (*session)->close();
    co_return pass_on(negotiated);
  }
  if (events.tools_changed) subscribe(**session, *negotiated);
  co_return std::make_unique<ClientImpl>(std::move(*session), std::move(config),
                                         std::move(*negotiated));
}

asio::awaitable<Result<std::unique_ptr<Client>>> Client::connect(asio::any_io_executor executor,
                                                                 ServerConfig config) {
  return connect(std::move(executor), std::move(config), Events());
}

}  // namespace mcpac::mcp
