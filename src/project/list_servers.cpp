// SPDX-License-Identifier: Apache-2.0

#include "project/list_servers.h"

#include <csignal>
#include <exception>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "mcp/client.h"
#include "mcp/secrets.h"

namespace mcpac::project {
namespace {

namespace asio = boost::asio;

mcp::Events events_of(const std::string& server, const OnProgress& progress, const OnLogin& login) {
  mcp::Events events;
  events.show_login = login;
  events.starts_slowly = [server, &progress](std::string_view text) {
    ServerProgress slow{server, ServerProgress::State::kSlow, 0, {}};
    slow.error.what = text;
    progress(slow);
  };
  events.warned = [server, &progress](std::string_view text) {
    ServerProgress left_out{server, ServerProgress::State::kLeftOut, 0, {}};
    left_out.error.what = text;
    progress(left_out);
  };
  return events;
}

asio::awaitable<Result<ServerListing>> list_server(asio::any_io_executor executor,
                                                   mcp::ServerConfig config, mcp::Events events) {
  auto client = co_await mcp::Client::connect(executor, std::move(config), std::move(events));
  if (!client) co_return pass_on(client);
  auto listing = co_await (*client)->list_tools();
  co_await (*client)->close();
  co_return listing;
}

}  // namespace

Result<std::map<std::string, Result<ServerListing>>> ask_servers(
    const std::vector<mcp::ServerConfig>& servers, const OnProgress& progress,
    const OnLogin& login) {
  asio::io_context loop;
  std::map<std::string, Result<ServerListing>> outcomes;
  std::size_t waiting = 0;
  for (const auto& server : servers) {
    if (server.disabled) continue;
    progress({server.name, ServerProgress::State::kConnecting, 0, {}});
    ++waiting;
    asio::co_spawn(
        loop, list_server(loop.get_executor(), server, events_of(server.name, progress, login)),
        [&outcomes, &progress, &waiting, name = server.name](std::exception_ptr bug,
                                                             Result<ServerListing> listing) {
          if (bug) std::rethrow_exception(bug);
          --waiting;
          if (listing) {
            progress({name, ServerProgress::State::kListed, listing->tools.size(), {}});
          } else {
            progress({name, ServerProgress::State::kFailed, 0, listing.error()});
          }
          outcomes.emplace(name, std::move(listing));
        });
  }
  // Ctrl-C: the clients die with the loop, and kill what they started.
  bool interrupted = false;
  asio::signal_set signals(loop, SIGINT, SIGTERM, SIGHUP);
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (error) return;
    interrupted = true;
    loop.stop();
  });
  while (waiting > 0 && !interrupted) loop.run_one();
  if (interrupted)
    return fail(ErrorId::kInterrupted, "interrupted while servers were asked for their tools");
  return outcomes;
}

Result<std::vector<ServerListing>> list_servers(const std::vector<mcp::ServerConfig>& servers,
                                                const OnProgress& progress, const OnLogin& login) {
  auto outcomes = ask_servers(servers, progress, login);
  if (!outcomes) return pass_on(outcomes);
  std::vector<ServerListing> listings;
  for (auto& [name, outcome] : *outcomes) {
    if (!outcome) return pass_on(outcome);
    listings.push_back(std::move(*outcome));
  }
  return listings;
}

std::string server_text(const std::string& text, std::string_view where) {
  mcp::SecretValues values;
  auto expanded = values.expand(text, where);
  return expanded ? std::move(*expanded) : text;
}

}  // namespace mcpac::project
