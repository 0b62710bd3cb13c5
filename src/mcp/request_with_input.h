// SPDX-License-Identifier: Apache-2.0

// request_with_input(): a request whose server may ask for input before it answers.
//
// In revision 2026-07-28 a server that needs input answers `input_required`; the request is made
// again, under a new id, with the answers and with the server's `requestState` exactly as it came.
// Both belong to this one request and never travel with another.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include "core/error.h"
#include "mcp/session.h"

namespace mcpac::mcp {

// The complete result, or a refusal when `options` keeps errors. kServerError when the server asks
// for what no handler answers.
boost::asio::awaitable<Result<Reply>> request_with_input(std::shared_ptr<Session> session,
                                                         std::string method, Json params,
                                                         std::chrono::milliseconds timeout,
                                                         RequestOptions options);

// The same, told to `done` once, in a step of the loop of its own. No coroutine waits before the
// server asks for input, which hardly any call comes to.
struct StartedRequest {
  std::string method;
  Json params;
  std::chrono::milliseconds timeout{0};
  RequestOptions options{};
  // Takes it back; its signal stays until `done` is called.
  boost::asio::cancellation_slot slot{};
  Session::Done done;
};
void start_with_input(std::shared_ptr<Session> session, StartedRequest request);

}  // namespace mcpac::mcp
