// SPDX-License-Identifier: Apache-2.0

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

std::int64_t ask_initialize(Session& session) {
  return session.begin("initialize", initialize_params(session), RequestOptions());
}

// The first answer did not come.
std::unexpected<Error> no_start(const Session& session, std::string_view method,
                                const NegotiateOptions& options) {
  return fail(
      ErrorId::kServerTimeout,
      fmt::format("server {} did not answer {} within {} s of its start", session.server(), method,
                  std::chrono::ceil<std::chrono::seconds>(options.patience().quiet).count()),
      {.where = "server " + session.server(),
       .fix = std::string(options.is_process ? "is it a server over standard input and output? "
                                             : "is this the URL of an MCP endpoint? ") +
              R"(Where it speaks one protocol alone, "era": "initialize" (or "2026-07-28") in )"
              R"(mcpac.json says so; where it is slow, a longer "timeout", as "120s")"});
}

// The same reply, in words where it did not come.
Result<Reply> told(const Session& session, std::string_view method, const NegotiateOptions& options,
                   Result<Reply> reply) {
  if (!reply && reply.error().id == ErrorId::kServerTimeout)
    return no_start(session, method, options);
  return reply;
}

// `patience`: of its answer.
asio::awaitable<Result<Negotiated>> initialize(std::shared_ptr<Session> session,
                                               Session::Patience patience,
                                               NegotiateOptions options) {
  const auto question = ask_initialize(*session);
  auto reply = co_await session->wait_for_start(question, patience);
  session->forget(question);
  reply = told(*session, "initialize", options, std::move(reply));
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
                                                  NegotiateOptions options) {
  auto question = ask_discover(*session);
  auto reply = co_await session->wait_for_start(question, options.patience());
  if (means_ask_again(reply)) {
    question = ask_discover(*session);
    reply = co_await session->wait_for_start(question, options.patience());
  }
  session->forget(question);
  reply = told(*session, "server/discover", options, std::move(reply));
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

asio::awaitable<Negotiation> negotiate(std::shared_ptr<Session> session, NegotiateOptions options) {
  if (options.era == Era::kStateless)
    co_return Negotiation(co_await discover_only(session, options));
  if (options.era == Era::kInitialize)
    co_return Negotiation(co_await initialize(session, options.patience(), options));

  const Session::Patience probing{options.probe_timeout, options.patience().at_most};
  auto question = ask_discover(*session);
  auto found = co_await session->wait_for_start(question, probing);
  if (means_ask_again(found)) {
    question = ask_discover(*session);
    found = co_await session->wait_for_start(question, probing);
  }
  if (found && speaks_stateless(found->result))
    co_return Negotiation(go_stateless(*session, found->result));
  const bool silent = !found && found.error().id == ErrorId::kServerTimeout;
  // One that may have gone wrong with the question is started anew before long.
  const bool is_doubted = silent && options.is_process;
  auto opened = co_await initialize(session, is_doubted ? probing : options.patience(), options);
  if (!silent) co_return Negotiation(std::move(opened));
  // A server that starts slowly has both questions before it; it may know the first one only.
  if (!opened && opened.error().id == ErrorId::kServerError) {
    auto late = co_await session->wait(question, options.probe_timeout, OnTimeout::kKeepWaiting);
    if (late && speaks_stateless(late->result))
      co_return Negotiation(go_stateless(*session, late->result));
  }
  const bool is_silent_still = !session->is_answered(question);
  session->forget(question);
  co_return Negotiation(std::move(opened), is_silent_still);
}

}  // namespace mcpac::mcp
