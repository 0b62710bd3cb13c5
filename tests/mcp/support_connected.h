// One client that is connected to a server, and who answers what that asks.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "mcp/support.h"

namespace mcpac::test {

inline constexpr std::chrono::milliseconds kPatience = std::chrono::seconds(300);

// One connected client on a loop of its own.
struct Connection {
  boost::asio::io_context loop;
  std::vector<std::string> stderr_lines;
  int changes = 0;
  Result<std::unique_ptr<mcp::Client>> client;

  explicit Connection(mcp::ServerConfig config, bool watch_changes = false, mcp::Events events = {})
      : client(nullptr) {
    events.server_stderr = [this](std::string_view line) { stderr_lines.emplace_back(line); };
    if (watch_changes) events.tools_changed = [this] { ++changes; };
    client = test::run(loop, mcp::Client::connect(loop.get_executor(), std::move(config), events));
  }
  ~Connection() { end(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  mcp::Client& operator*() { return **client; }
  Result<Json> call(std::string tool, Json arguments = Json::object(),
                    std::chrono::milliseconds timeout = kPatience) {
    return test::run(loop, (*client)->call_tool(std::move(tool), std::move(arguments), timeout));
  }
  Result<ServerListing> list() { return test::run(loop, (*client)->list_tools()); }
  // Lets the loop work until `ready` or nothing is left to wait for.
  template <class Ready>
  void until(Ready ready) {
    loop.restart();
    while (!ready() && loop.run_one() > 0) {
    }
  }
  void end() {
    if (client && *client) test::run(loop, (*client)->close());
    client = nullptr;
  }
};

// To a server that it started, of which nothing is left.
struct Connected : Connection {
  using Connection::Connection;
  ~Connected() {
    end();
    CHECK(test::children().empty());
  }
};

inline ErrorId id_of(const Result<Json>& result) {
  REQUIRE_FALSE(result.has_value());
  return result.error().id;
}

inline Json args(std::string_view text) {
  return *parse_json(text);
}

inline boost::asio::awaitable<Result<Json>> answered_with(std::string action) {
  Json result = Json::object();
  result["action"] = std::move(action);
  co_return result;
}

inline boost::asio::awaitable<Result<Json>> decline() {
  return answered_with("decline");
}

// Accepts whatever form comes.
inline mcp::Events answering() {
  mcp::Events events;
  events.capabilities["elicitation"]["form"] = Json::object();
  events.answer = [](std::string, Json) { return answered_with("accept"); };
  return events;
}

}  // namespace mcpac::test
