// SPDX-License-Identifier: Apache-2.0

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
#include <boost/asio/cancellation_signal.hpp>

#include "core/error.h"
#include "core/json.h"
#include "core/tool_definition.h"
#include "ipc/json_rpc.h"
#include "mcp/asked.h"
#include "mcp/oauth/login_page.h"
#include "mcp/server_config.h"

namespace mcpac::mcp {

class ConnectionRoom;
class SecretValues;

struct Events {
  std::function<void()> tools_changed{};                       // notifications/tools/list_changed
  std::function<void(std::string_view line)> server_stderr{};  // a line, secrets already redacted
  // Every other notification but those about one request; secrets redacted.
  std::function<void(const std::string& method, const Json& params)> notified{};
  // What was left out and why: a tool whose definition cannot be used.
  std::function<void(std::string_view text)> warned{};
  // The connection ended by itself, other than with a session that the server forgot, before those
  // hear it whose requests end with it. `error.why` has the server's last words: for the user of
  // mcpac, and not for its callers.
  std::function<void(const Error& error)> ended{};
  // It has not answered its first question for some time: how long, and what it wrote last. For the
  // user of mcpac; again and again, with longer pauses.
  std::function<void(std::string_view text)> starts_slowly{};
  // Shows a person the page where they log in; null where no person is there: then the error says
  // how.
  oauth::ShowLogin show_login{};
  // What we say that we answer ({"elicitation": {"form": {}}}), and who does, for calls without a
  // caller. Nothing is declared without it.
  Json capabilities = Json::object();
  Answer answer{};
  // Of the same server when it was started before, where it was: what its references stood for then
  // is as secret as what they stand for now.
  std::shared_ptr<const SecretValues> earlier{};
  // Of all servers of this loop, where there are several.
  std::shared_ptr<ConnectionRoom> connections{};
};

// What a server reports of one call: the params of notifications/progress without the token,
// secrets redacted.
using OnProgress = std::function<void(const Json& report)>;

// The handler of what a server says while it works on one call; both may be null.
struct CallEvents {
  OnProgress heard{};
  Answer answer{};
  AnswerAll answer_all{};  // null: one after the other, by `answer`
  // What a server of the stateless era is told that this caller answers; null: what all do.
  Json capabilities{};
  // The params of notifications/message that belong to this call, secrets redacted; and from which
  // level on a server of the stateless era is asked for them. Empty: none.
  std::function<void(const Json& message)> logged{};
  std::string log_level{};
  // Further members of the request's `_meta`; those of the protocol stand before them.
  Json meta{};
  // The JSON-RPC error that ends the call, secrets redacted; the Error follows.
  std::function<void(const ipc::ErrorObject& error)> refused{};
  // The server has refused the call with the session that it forgot, and has not carried it out: in
  // another session it may be made again. The Error follows.
  std::function<void()> unmade{};
  // Whose call it is: a name that is never given again. Once calls of two are carried, a question
  // that names no call is not answered: it could be about either's.
  std::string client{};
};

// A result, or the JSON-RPC error that the server answered, redacted.
using Outcome = std::expected<Json, ipc::ErrorObject>;

struct ToolCall {
  std::string tool;
  Json arguments;
  std::chrono::milliseconds timeout{0};
  CallEvents events{};
};

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
  virtual boost::asio::awaitable<Result<Json>> call_tool(std::string tool, Json arguments,
                                                         std::chrono::milliseconds timeout,
                                                         CallEvents events) = 0;
  boost::asio::awaitable<Result<Json>> call_tool(std::string tool, Json arguments,
                                                 std::chrono::milliseconds timeout) {
    return call_tool(std::move(tool), std::move(arguments), timeout, CallEvents());
  }
  // The same for many small ones: no coroutine waits. `done` is called once, in a step of the loop
  // of its own. The slot, which may be empty, takes the call back (kServerCancelled); its signal
  // stays until then.
  virtual void start_call(ToolCall call, std::function<void(Result<Json>)> done,
                          boost::asio::cancellation_slot slot) = 0;
  // Any other request (resources/read, prompts/get, completion/complete, …) in the same way.
  virtual boost::asio::awaitable<Result<Outcome>> request(std::string method, Json params,
                                                          std::chrono::milliseconds timeout,
                                                          CallEvents events) = 0;
  // What the server said that it can do.
  [[nodiscard]] virtual const Json& capabilities() const = 0;
  // The shutdown ladder (MCP 2025-11-25, "Lifecycle": close its input, SIGTERM, SIGKILL).
  // Idempotent. The destructor kills what close() was not awaited for.
  virtual boost::asio::awaitable<void> close() = 0;
  [[nodiscard]] virtual const std::string& protocol_version() const = 0;
  // False when the connection has ended: every call from here on is an error.
  [[nodiscard]] virtual bool is_alive() const = 0;
  // It has because the server forgot our session. Calls that it knows may still be answered; while
  // they are, the client is not idle.
  [[nodiscard]] virtual bool has_lost_session() const = 0;
  [[nodiscard]] virtual bool is_idle() const = 0;
  // What the server was given: so that others take it out of what they keep.
  [[nodiscard]] virtual const SecretValues& secrets() const = 0;
};

}  // namespace mcpac::mcp
