// Visits to tests/servers/oauth_fixture.mjs: one client each, with a person beside it or without,
// and what the fixture was asked.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "mcp/oauth/store.h"
#include "mcp/support.h"
#include "mcp/support_login.h"

namespace mcpac::test {

inline HttpFixture oauth(std::vector<std::string> flags = {}) {
  return HttpFixture(std::move(flags), "oauth_fixture.mjs");
}

enum class Person : std::uint8_t { kThere, kAway };

struct Visit {
  boost::asio::io_context loop;
  std::string page;
  Result<std::unique_ptr<mcp::Client>> client;

  Visit(mcp::ServerConfig config, Person person) : client(nullptr) {
    mcp::Events events;
    if (person == Person::kThere) events.show_login = browser(loop.get_executor(), &page);
    client = run(loop, mcp::Client::connect(loop.get_executor(), std::move(config), events));
  }
  ~Visit() {
    if (client && *client) run(loop, (*client)->close());
    client = nullptr;
    loop.restart();
    loop.run();  // ends only when nothing is left to wait for
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  Result<Json> call(const std::string& tool) {
    REQUIRE_MESSAGE(client.has_value(), shown(client));
    return run(loop, (*client)->call_tool(tool, Json::object(), std::chrono::seconds(60)));
  }
};

inline mcp::ServerConfig server_of(const HttpFixture& web,
                                   const std::filesystem::path& tokens = {}) {
  auto config = web.config("/mcp");
  config.tokens = tokens;
  config.era = mcp::Era::kInitialize;
  return config;
}

inline void forget_tokens(const mcp::ServerConfig& server) {
  mcp::oauth::Store store(server.tokens, server.name, server.url);
  auto kept = store.load();
  REQUIRE(kept.has_value());
  kept->tokens = {};
  REQUIRE(store.save(*kept).has_value());
}

inline std::size_t times(const Json& log, std::string_view path) {
  return static_cast<std::size_t>(
      std::ranges::count_if(log, [&](const Json& one) { return one["path"] == path; }));
}

inline bool is_sent(const Json& log, std::string_view path, std::string_view words) {
  return std::ranges::any_of(log, [&](const Json& one) {
    return one["path"] == path && (one["body"].get<std::string>().contains(words) ||
                                   one["query"].get<std::string>().contains(words));
  });
}

// Of the fixture's authorization server.
inline std::string issuer_of(const HttpFixture& web) {
  return "http://127.0.0.1:" + std::to_string(web.port()) + "/as";
}

// What a login at that server left.
inline mcp::oauth::Kept kept_of(const mcp::ServerConfig& server) {
  auto kept = mcp::oauth::Store(server.tokens, server.name, server.url).load();
  REQUIRE(kept.has_value());
  return std::move(*kept);
}

}  // namespace mcpac::test
