// SPDX-License-Identifier: Apache-2.0

// negotiate(): protocol version of a server, and the handshake in it.
//
// An unknown server is asked `server/discover` first (2026-07-28). Any error, silence or nonsense
// means `initialize`; where a process ends on the question, or has gone wrong with it, connect()
// starts it again without the question. One that has not read its input yet, or writes something,
// is still starting, and is waited for.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <boost/asio/awaitable.hpp>

#include "core/error.h"
#include "mcp/server_config.h"
#include "mcp/session.h"

namespace mcpac::mcp {

struct Negotiated {
  Era era = Era::kInitialize;
  std::string version;
  std::string implementation{};        // "name version", made printable
  Json capabilities = Json::object();  // as the server declared them
  bool declares_tools = false;
  bool announces_changes = false;  // of the list of tools
};

struct Negotiation {
  // g++ 12 destroys an aggregate twice that is made inside a coroutine; this makes it none.
  explicit Negotiation(Result<Negotiated> o, bool silent = false)
      : outcome(std::move(o)), was_silent(silent) {}
  Result<Negotiated> outcome;
  bool was_silent = false;  // on `server/discover`: to ask it again would cost the same again
};

struct NegotiateOptions {
  Era era = Era::kProbe;
  std::chrono::milliseconds probe_timeout{3'000};
  std::chrono::milliseconds timeout{60'000};
  // A process of ours, which starts when it is asked and can be started anew.
  bool is_process = false;

  // Of an answer to the first words: two of its times in silence, five while it is starting.
  [[nodiscard]] Session::Patience patience() const {
    if (!is_process) return {timeout, timeout};
    return {2 * timeout, 5 * timeout};
  }
};

boost::asio::awaitable<Negotiation> negotiate(std::shared_ptr<Session> session,
                                              NegotiateOptions options);

}  // namespace mcpac::mcp
