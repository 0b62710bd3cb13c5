#include "execute/host/log_in.h"

#include <chrono>
#include <optional>

#include "execute/project/list_servers.h"
#include "mcp/oauth/store.h"

namespace mcpac::execute {
namespace {

// A person may have to find a password, and every request waits for that.
constexpr std::chrono::minutes kPatience{15};

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

Result<LoginOutcome> log_in(mcp::ServerConfig server,
                            const std::function<void(const std::string& url)>& show) {
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
  auto listings = list_servers(
      {server}, [](const ServerProgress&) {},
      [&](const std::string& url) {
        outcome.asked = true;
        show(url);
      });
  if (!listings) return pass_on(listings);
  outcome.tools = listings->front().tools.size();
  return outcome;
}

bool log_out(const mcp::ServerConfig& server) {
  return server.is_http() && store_of(server).forget();
}

}  // namespace mcpac::execute
