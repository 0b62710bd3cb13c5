// SPDX-License-Identifier: Apache-2.0

// The tools of a server, held against the lock: at its start, and whenever they may have changed.
#include <fmt/format.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "codegen/generate.h"
#include "codegen/lock_diff.h"
#include "servers/server_of_run.h"

namespace mcpac::servers {

namespace asio = boost::asio;

Error drift_error(const Permission& tool, Drift how) {
  if (how == Drift::kTexts) {
    return {
        ErrorId::kLockDrift,
        fmt::format("{} is not the tool that mcpac.lock approved: its server describes it in "
                    "other words (its schemas are the same)",
                    tool.text()),
        fmt::format("server {}", tool.server()),
        "what was approved is what it said of itself then; a description is what models read",
        fmt::format("`mcpac lock diff {}` shows the change, `mcpac lock accept {}` approves it; "
                    "where it changes all the time (a count, a date), \"texts\": \"locked\" in "
                    "mcpac.json keeps the approved words",
                    tool.server(), tool.text())};
  }
  if (how == Drift::kClaims) {
    return {
        ErrorId::kLockDrift,
        fmt::format("{} is not the tool that mcpac.lock approved: it says now that it needs "
                    "other things (files, network, programs, variables)",
                    tool.text()),
        fmt::format("server {}", tool.server()),
        "what was approved is what it, or its server's manifest, said then",
        fmt::format("`mcpac lock diff {0}` shows the change, `mcpac lock accept {0}` approves it",
                    tool.server())};
  }
  const bool is_gone = how == Drift::kGone;
  return {ErrorId::kLockDrift,
          is_gone
              ? fmt::format("{} is in mcpac.lock, and its server does not have it any more",
                            tool.text())
              : fmt::format("{} is not the tool that mcpac.lock approved: its server changed it",
                            tool.text()),
          fmt::format("server {}", tool.server()),
          is_gone ? "a tool that is not there cannot be called"
                  : "what was approved is what it said of itself then",
          fmt::format("`mcpac lock diff {}` shows the change, `mcpac lock accept {}` approves it",
                      tool.server(), tool.text())};
}

asio::awaitable<Upstreams::Comparison> Upstreams::compare_until_quiet(Server& server) {
  // A server that never stops changing would keep its callers waiting for ever.
  constexpr int kRounds = 16;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t seen = server.changes;
    auto outcome = co_await compare_with_lock(server);
    if (!outcome) co_return pass_on(outcome);
    server.ever_drifted.merge(*outcome);
    if (server.changes == seen) co_return server.ever_drifted;
  }
  co_return fail(ErrorId::kServerProtocol,
                 fmt::format("the server {} changes its tools without end", server.config.name),
                 {.where = fmt::format("server {}", server.config.name),
                  .why = "each listing was followed by news of another",
                  .fix = "ask its author; \"disabled\": true in mcpac.json leaves it out"});
}

bool Upstreams::may_come_back(const Server& server, const Comparison& outcome) {
  return !outcome && is_passing(outcome.error()) && server.client && server.client->is_alive();
}

// Often asked where the server said nothing, and only its stream had ended (mcp/resync_notice.h):
// what may pass is asked some more times before the server is taken for failed.
asio::awaitable<void> Upstreams::compare_again(Server& server) {
  ComparePauses pauses(compare_pauses_);
  auto outcome = co_await compare_until_quiet(server);
  while (may_come_back(server, outcome) && pauses.is_waited_for()) {
    asio::steady_timer pause(executor_, pauses.next());
    co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
    outcome = co_await compare_until_quiet(server);
  }
  // One that had failed before has a reason of its own to stay so.
  const bool goes_on = !revives_ && !server.failure && may_come_back(server, outcome);
  settle(server, std::move(outcome));
  if (goes_on) co_await compare_on(server, pauses);
}

// Where servers are not started again, one that was busy for some seconds would be lost for the
// rest of the run. Until its tools are compared it stays failed: no call goes to an unchecked
// server.
asio::awaitable<void> Upstreams::compare_on(Server& server, ComparePauses pauses) {
  server.is_asked_on = true;
  while (true) {
    server.next_try.expires_after(pauses.next());
    const auto [is_over] = co_await server.next_try.async_wait(asio::as_tuple(asio::use_awaitable));
    if (is_over) co_return;  // the run ends, and the server may be gone
    auto outcome = co_await compare_until_quiet(server);
    if (may_come_back(server, outcome)) continue;
    const bool is_back = outcome.has_value();
    if (is_back) server.failure.reset();
    settle(server, std::move(outcome));
    if (is_back && heard_) heard_("a server lists its tools again: they are compared", server.name);
    co_return;
  }
}

Error Upstreams::why_failed(const Server& server) {
  Error error = *server.failure;
  if (!server.is_asked_on) return error;
  error.id = ErrorId::kServerBusy;  // of the call, which it has not seen
  error.what = fmt::format(
      "the tools of the server {} may have changed; it is not called before they were compared, "
      "and they could not be: {}",
      server.config.name, error.what);
  error.fix = "call again later: it is asked for them again and again";
  return error;
}

asio::awaitable<Upstreams::Comparison> Upstreams::compare_with_lock(Server& server) {
  const auto client = server.client;
  if (!client) co_return fail(ErrorId::kServerDied, "the server was ended");  // it rests
  auto listing = co_await client->list_tools();
  if (!listing) co_return pass_on(listing);
  Drifted drifted;
  if (const auto* locked = lock_.find_server(server.config.name)) {
    std::map<std::string, const OrderedJson*> offered;
    // As it was locked: of two tools with one name the same one is taken.
    std::vector<codegen::Note> said;  // by generate
    const auto live = codegen::lockable(std::move(*listing), said);
    server.gained.clear();
    for (const auto& tool : live.tools) {
      offered[tool.name] = &tool.definition;
      const bool is_known = std::ranges::find(locked->tools, tool.name,
                                              &codegen::LockedTool::name) != locked->tools.end();
      if (!is_known && !server.told_gained.contains(tool.name)) server.gained.insert(tool.name);
    }
    for (const auto& tool : locked->tools) {
      const auto found = offered.find(tool.name);
      if (found == offered.end()) {
        drifted.emplace(tool.name, Drift::kGone);
      } else if (codegen::needs_others(*locked, tool, live, *found->second)) {
        drifted.emplace(tool.name, Drift::kClaims);
      } else if (codegen::definition_digest(*found->second) != tool.digest) {
        const bool in_texts = codegen::differ_in_texts_alone(tool.definition, *found->second);
        if (in_texts && server.config.texts == mcp::Texts::kLocked) continue;
        drifted.emplace(tool.name, in_texts ? Drift::kTexts : Drift::kChanged);
      }
    }
  }
  co_return drifted;
}

}  // namespace mcpac::servers
