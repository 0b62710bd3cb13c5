// negotiate(): which protocol a server speaks, and the opening words in it.
//
// An unknown server is asked `server/discover` first (2026-07-28). Any error, silence or nonsense
// means `initialize`; a server that ends on the question says so through the session, and connect()
// starts it again without the question.
#pragma once

#include <memory>
#include <string>

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

struct NegotiateOptions {
  Era era = Era::kProbe;
  std::chrono::milliseconds probe_timeout{3'000};
  std::chrono::milliseconds timeout{60'000};
};

boost::asio::awaitable<Result<Negotiated>> negotiate(std::shared_ptr<Session> session,
                                                     NegotiateOptions options);

}  // namespace mcpac::mcp
