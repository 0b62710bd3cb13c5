// The tools of a server, held against the lock: at its start, and whenever they may have changed.
#include <fmt/format.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "execute/host/server_of_run.h"

namespace mcpac::execute {

namespace asio = boost::asio;

asio::awaitable<Result<std::set<std::string>>> Upstreams::compare_until_quiet(Server& server) {
  // A server that never stops changing would keep its callers waiting for ever.
  constexpr int kRounds = 16;
  std::set<std::string> drifted;  // in any round: what was shown once was shown
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t seen = server.changes;
    auto outcome = co_await compare_with_lock(server);
    if (!outcome) co_return pass_on(outcome);
    drifted.merge(*outcome);
    if (server.changes == seen) co_return drifted;
  }
  co_return fail(ErrorId::kServerProtocol,
                 fmt::format("the server {} changes its tools without end", server.config.name),
                 {.where = fmt::format("server {}", server.config.name),
                  .why = "each listing was followed by news of another",
                  .fix = "ask its author; \"disabled\": true in mcpac.json leaves it out"});
}

// Often asked where the server said nothing, and only its stream had ended (mcp/hears_again.h):
// what may pass is asked some more times before the server is taken for failed.
asio::awaitable<void> Upstreams::compare_again(Server& server) {
  constexpr int kTries = 3;
  auto outcome = co_await compare_until_quiet(server);
  for (int tries = 0;
       tries < kTries && !outcome && is_passing(outcome.error()) && server.client->is_alive();
       ++tries) {
    asio::steady_timer pause(executor_, std::chrono::seconds(1 << tries));
    co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
    outcome = co_await compare_until_quiet(server);
  }
  settle(server, std::move(outcome));
}

asio::awaitable<Result<std::set<std::string>>> Upstreams::compare_with_lock(Server& server) {
  const auto client = server.client;
  auto listing = co_await client->list_tools();
  if (!listing) co_return pass_on(listing);
  std::set<std::string> drifted;
  if (const auto* locked = lock_.find_server(server.config.name)) {
    std::map<std::string, std::string> offered;
    for (const auto& tool : listing->tools)
      offered[tool.name] = codegen::definition_digest(tool.definition);
    for (const auto& tool : locked->tools) {
      const auto found = offered.find(tool.name);
      if (found == offered.end() || found->second != tool.digest) drifted.insert(tool.name);
    }
  }
  co_return drifted;
}

}  // namespace mcpac::execute
