#include "mcp/negotiate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/printable.h"
#include "mcp/protocol.h"

namespace mcpac::mcp {
namespace asio = boost::asio;
namespace {

std::string implementation_of(const Json* info) {
  if (info == nullptr) return "";
  return printable(string_member(*info, "name") + " " + string_member(*info, "version"), 200);
}

void read_capabilities(const Json& result, Negotiated& out) {
  const Json* capabilities = find_member(result, "capabilities");
  const Json* tools = capabilities == nullptr ? nullptr : find_member(*capabilities, "tools");
  if (capabilities != nullptr && capabilities->is_object()) out.capabilities = *capabilities;
  out.declares_tools = tools != nullptr && tools->is_object();
  const Json* changes = tools == nullptr ? nullptr : find_member(*tools, "listChanged");
  out.announces_changes = changes != nullptr && changes->is_boolean() && changes->get<bool>();
}

// True when the result is what `server/discover` promises and names our stateless revision. A
// server that answers every method with {} is none, and one that lists only older revisions is
// asked to initialize.
bool speaks_stateless(const Json& result) {
  const Json* versions = find_member(result, "supportedVersions");
  return versions != nullptr && versions->is_array() &&
         std::ranges::any_of(*versions, [](const Json& version) {
           return version.is_string() && version.get_ref<const std::string&>() == kStatelessVersion;
         });
}

Negotiated go_stateless(Session& session, const Json& result) {
  Negotiated out{.era = Era::kStateless, .version = std::string(kStatelessVersion)};
  const Json* meta = find_member(result, "_meta");
  out.implementation =
      implementation_of(meta == nullptr ? nullptr : find_member(*meta, kMetaServerInfo));
  read_capabilities(result, out);
  session.set_protocol(Era::kStateless, out.version);
  return out;
}

std::int64_t ask_discover(Session& session) {
  RequestOptions options;
  options.keeps_errors = true;
  return session.begin("server/discover", {{"_meta", session.meta()}}, options);
}

// A server that refuses the revision and then names it among those that it speaks is asked again.
bool means_ask_again(const Result<Reply>& reply) {
  if (!reply || !reply->refusal || reply->refusal->code != kUnsupportedVersion) return false;
  const Json* supported = find_member(reply->refusal->data, "supported");
  return supported != nullptr && supported->is_array() &&
         std::ranges::find(*supported, Json(kStatelessVersion)) != supported->end();
}

Json initialize_params(const Session& session) {
  return {{"protocolVersion", kInitializeVersion},
          {"capabilities", session.capabilities()},
          {"clientInfo", client_info()}};
}

asio::awaitable<Result<Negotiated>> initialize(std::shared_ptr<Session> session,
                                               std::chrono::milliseconds timeout) {
  Json params = initialize_params(*session);
  RequestOptions options;
  auto reply = co_await session->request("initialize", std::move(params), timeout, options);
  if (!reply) co_return pass_on(reply);
  const auto version = string_member(reply->result, "protocolVersion");
  if (!is_initialize_version(version)) {
    co_return fail(ErrorId::kServerProtocol,
                   fmt::format("server {} wants protocol revision \"{}\"", session->server(),
                               printable(version, 40)),
                   {.where = "server " + session->server(),
                    .why = "mcpac speaks 2024-11-05 to 2025-11-25, and 2026-07-28"});
  }
  Negotiated out{.era = Era::kInitialize, .version = version};
  out.implementation = implementation_of(find_member(reply->result, "serverInfo"));
  read_capabilities(reply->result, out);
  session->set_protocol(Era::kInitialize, version);
  session->notify("notifications/initialized");
  co_return out;
}

asio::awaitable<Result<Negotiated>> discover_only(std::shared_ptr<Session> session,
                                                  std::chrono::milliseconds timeout) {
  auto reply = co_await session->wait(ask_discover(*session), timeout);
  if (means_ask_again(reply)) reply = co_await session->wait(ask_discover(*session), timeout);
  if (!reply) co_return pass_on(reply);
  if (speaks_stateless(reply->result)) co_return go_stateless(*session, reply->result);
  co_return fail(
      reply->refusal ? ErrorId::kServerError : ErrorId::kServerProtocol,
      fmt::format("server {} does not speak revision {}", session->server(), kStatelessVersion),
      {.where = "server " + session->server(),
       .why = reply->refusal ? printable(reply->refusal->message, 200) : std::string(),
       .fix = R"(leave out "era" in mcpac.json, or write "initialize")"});
}

}  // namespace

asio::awaitable<Result<Negotiated>> negotiate(std::shared_ptr<Session> session,
                                              NegotiateOptions options) {
  if (options.era == Era::kStateless) {
    co_return co_await discover_only(session, options.timeout);
  }
  if (options.era == Era::kInitialize) co_return co_await initialize(session, options.timeout);

  auto question = ask_discover(*session);
  auto found = co_await session->wait(question, options.probe_timeout, OnTimeout::kKeepWaiting);
  if (means_ask_again(found)) {
    question = ask_discover(*session);
    found = co_await session->wait(question, options.probe_timeout, OnTimeout::kKeepWaiting);
  }
  if (found && speaks_stateless(found->result)) co_return go_stateless(*session, found->result);
  const bool silent = !found && found.error().id == ErrorId::kServerTimeout;
  auto opened = co_await initialize(session, options.timeout);
  if (!silent) co_return opened;
  // A server that starts slowly has both questions before it; it may know the first one only.
  if (!opened && opened.error().id == ErrorId::kServerError) {
    auto late = co_await session->wait(question, options.probe_timeout);
    if (late && speaks_stateless(late->result)) co_return go_stateless(*session, late->result);
  } else {
    session->forget(question);
  }
  co_return opened;
}

}  // namespace mcpac::mcp
