// SPDX-License-Identifier: Apache-2.0

#include "servers/log_in.h"

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "mcp/login_of.h"
#include "mcp/oauth/store.h"
#include "mcp/secrets.h"
#include "project/list_servers.h"

namespace mcpac::servers {
namespace {

// A person may have to find a password, and every request waits for that.
constexpr std::chrono::minutes kPatience{15};
// For telling an authorization server that a login is over, which is forgotten in any case.
constexpr std::chrono::seconds kTakingBack{30};
// Of that, for a process that renews the login at this moment.
constexpr std::chrono::seconds kOthersTurn{10};

mcp::oauth::Store store_of(const mcp::ServerConfig& server) {
  return {server.tokens, server.name, server.url};
}

// The client that was registered, and what was asked for, stay: the login goes on from there.
Result<void> forget_token(const mcp::ServerConfig& server) {
  auto store = store_of(server);
  auto kept = store.load();
  if (!kept) return pass_on(kept);
  if (kept->tokens.access.empty() && kept->tokens.refresh.empty()) return {};
  kept->wanted_scope = kept->wanted_scope.empty() ? kept->tokens.scope : kept->wanted_scope;
  kept->tokens = {};
  return store.save(*kept);
}

}  // namespace

Result<LoginOutcome> log_in(mcp::ServerConfig server, const mcp::oauth::ShowLogin& show) {
  if (!server.is_http()) {
    return fail(ErrorId::kConfigInvalid,
                "server " + server.name + " is a program, which nobody logs in to",
                {.fix = R"(it gets its secrets through "env" in mcpac.json)"});
  }
  if (auto forgotten = forget_token(server); !forgotten) return pass_on(forgotten);
  server.disabled = false;
  server.timeout = kPatience;
  server.probe_timeout = kPatience;
  LoginOutcome outcome;
  auto listings = project::list_servers(
      {server}, [](const project::ServerProgress&) {},
      [&](const mcp::oauth::LoginPage& page) {
        outcome.asked = true;
        show(page);
      });
  if (!listings) return pass_on(listings);
  outcome.tools = listings->front().tools.size();
  return outcome;
}

LogoutOutcome log_out(const mcp::ServerConfig& server) {
  LogoutOutcome outcome;
  if (!server.is_http()) return outcome;
  boost::asio::io_context loop;
  const auto secrets = std::make_shared<mcp::SecretValues>();
  const auto kept = store_of(server).load();
  outcome.was_kept = kept && (!kept->issuer.empty() || !kept->wanted_scope.empty());
  const auto authorizer = mcp::make_authorizer(loop.get_executor(), server, secrets, nullptr);
  if (!authorizer) outcome.taken_back = std::unexpected(secrets->redact(authorizer.error()));
  if (authorizer && *authorizer) {
    outcome.taken_back = fail(ErrorId::kServerTimeout, "the authorization server does not answer");
    boost::asio::co_spawn(loop, (*authorizer)->give_up(kOthersTurn),
                          [&](const std::exception_ptr& bug, Result<TakenBack> done) {
                            if (!bug) outcome.taken_back = std::move(done);
                          });
    loop.run_for(kTakingBack);
    if (!outcome.taken_back)
      outcome.taken_back = std::unexpected(secrets->redact(outcome.taken_back.error()));
  }
  // Also where the way there failed, or what is kept is of another place by now.
  if (store_of(server).forget()) outcome.was_kept = true;
  return outcome;
}

}  // namespace mcpac::servers
