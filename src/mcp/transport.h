// SPDX-License-Identifier: Apache-2.0

// Transport: carrier of the messages of one session, to a process or over HTTP.
//
// It knows bytes, descriptors and headers and no MCP beyond what its headers carry. Messages come
// out as lines of text in the order of arrival; what they mean is the session's business. Callbacks
// come from the event loop, never from inside a call into the transport, and never after kill() or
// close().
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>

#include "core/error.h"
#include "mcp/server_config.h"

namespace mcpac::mcp {

struct Outgoing {
  std::string line;                              // one JSON-RPC message, no newline
  std::optional<std::int64_t> request_id{};      // set when an answer is expected
  std::string method{};                          // empty for a response of ours
  std::string name{};                            // params.name or params.uri: the header Mcp-Name
  std::map<std::string, std::string> headers{};  // Mcp-Param-*, encoded; stateless era alone
  // Whose it is (CallEvents::client), where many share the server; null: no client's in particular.
  std::shared_ptr<const std::string> client{};
  std::string shorter{};  // of a long answer: what is sent where there is no room for it
  [[nodiscard]] bool is_answer() const { return !request_id && method.empty(); }
};

struct TransportEvents {
  // `carrier`: the request whose answer it came with, where the transport knows that.
  std::function<void(std::string_view line, std::optional<std::int64_t> carrier)> on_message{};
  // Whether the answer to this request is still to come.
  std::function<bool(std::int64_t id)> is_waiting{};
  // This one request will get no answer.
  std::function<void(std::int64_t id, Error error)> on_request_failed{};
  // The server knows our session no more. `id`: the request that it refused for that, and has not
  // carried out. Requests that it has may still be answered; new ones are of no use.
  std::function<void(std::optional<std::int64_t> id, Error error)> on_session_lost{};
  // Nothing will come any more. Once.
  std::function<void(Error error)> on_closed{};
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual void start(TransportEvents events) = 0;
  virtual void send(Outgoing message) = 0;
  // The answer to this request is no longer wanted. False: nothing of it has gone to the server,
  // and nothing will, so there is nothing to tell it.
  virtual bool abandon(std::int64_t request_id) = 0;
  // Whether the server has taken all that was sent so far. Nothing: that cannot be known.
  [[nodiscard]] virtual std::optional<bool> has_read() const { return std::nullopt; }
  // Grows with whatever the server says, be it no message.
  [[nodiscard]] virtual std::uint64_t signs_of_life() const { return 0; }
  // What it said of itself last, for a person: lines that are set in; empty for nothing.
  [[nodiscard]] virtual std::string last_words() const { return {}; }
  // What was negotiated; before that messages travel as the era probe asks.
  virtual void set_protocol(Era era, const std::string& version) = 0;
  // Opens a channel for notifications that belong to no request, where the transport needs one.
  virtual void listen() {}
  // Until that channel stands or has been refused, or so long.
  virtual boost::asio::awaitable<void> until_listening(std::chrono::milliseconds /*at_most*/) {
    co_return;
  }
  virtual boost::asio::awaitable<void> close() = 0;
  virtual void kill() = 0;
};

}  // namespace mcpac::mcp
