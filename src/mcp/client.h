// Client: one connection to one MCP server, whatever its transport and protocol era.
//
// connect() starts or calls the server, finds out its era (2026-07-28 `server/discover`, else
// `initialize`, revisions 2024-11-05 to 2025-11-25), and answers with a client ready for calls.
// Everything runs on the given executor (one event-loop thread); no call blocks. Times in
// milliseconds.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "core/error.h"
#include "core/json.h"
#include "core/tool_definition.h"
#include "mcp/server_config.h"

namespace mcpac::mcp {

class SecretValues;

struct Events {
  std::function<void()> tools_changed{};                       // notifications/tools/list_changed
  std::function<void(std::string_view line)> server_stderr{};  // a line, secrets already redacted
};

// What a server reports of one call: the params of notifications/progress without the token,
// secrets redacted.
using OnProgress = std::function<void(const Json& report)>;

class Client {
 public:
  // Secrets in `config` are resolved inside and never leave: errors and stderr lines are redacted.
  static boost::asio::awaitable<Result<std::unique_ptr<Client>>> connect(
      boost::asio::any_io_executor executor, ServerConfig config, Events events);
  // Two functions, not a default argument: g++ 12 destroys an aggregate twice that is made inside a
  // co_await, and a default argument is made there.
  static boost::asio::awaitable<Result<std::unique_ptr<Client>>> connect(
      boost::asio::any_io_executor executor, ServerConfig config);
  virtual ~Client() = default;

  // All pages; definitions keep the order of their members.
  virtual boost::asio::awaitable<Result<ServerListing>> list_tools() = 0;
  // The result object of tools/call ({content, isError, structuredContent, …}) as the server sent
  // it. Cancelling the awaiting coroutine (asio cancellation) sends notifications/cancelled.
  // `heard` may be null.
  virtual boost::asio::awaitable<Result<Json>> call_tool(std::string tool, Json arguments,
                                                         std::chrono::milliseconds timeout,
                                                         OnProgress heard) = 0;
  boost::asio::awaitable<Result<Json>> call_tool(std::string tool, Json arguments,
                                                 std::chrono::milliseconds timeout) {
    return call_tool(std::move(tool), std::move(arguments), timeout, nullptr);
  }
  // The shutdown ladder of design.md section 6. Idempotent. The destructor kills what close() was
  // not awaited for.
  virtual boost::asio::awaitable<void> close() = 0;
  [[nodiscard]] virtual const std::string& protocol_version() const = 0;
  // False when the connection has ended: every call from here on is an error.
  [[nodiscard]] virtual bool is_alive() const = 0;
  // What the server was given: so that others take it out of what they keep.
  [[nodiscard]] virtual const SecretValues& secrets() const = 0;
};

}  // namespace mcpac::mcp
