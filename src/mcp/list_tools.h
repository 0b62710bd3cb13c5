// SPDX-License-Identifier: Apache-2.0

// list_tools(): all pages of tools/list, as one listing.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "core/tool_definition.h"
#include "mcp/negotiate.h"
#include "mcp/param_headers.h"
#include "mcp/server_config.h"
#include "mcp/session.h"

namespace mcpac::mcp {

// What a connection knows about tools beyond their definitions: which arguments travel as headers.
using ParamHeaders = std::map<std::string, std::vector<ParamHeader>>;
using OnWarning = std::function<void(std::string_view text)>;

// Bounded in pages, tools, bytes and time: the server's `timeout` for the whole, since a server
// could give every page at its last moment, and no progress that would start the time anew.
// Tools without a name are left out; a name may come twice (codegen::lockable). `mirrored` gets
// what the definitions say about headers; a tool that says it wrongly is left out, and `warned`
// (may be null) told.
boost::asio::awaitable<Result<ServerListing>> list_tools(std::shared_ptr<Session> session,
                                                         ServerConfig config, Negotiated negotiated,
                                                         std::shared_ptr<ParamHeaders> mirrored,
                                                         OnWarning warned);

}  // namespace mcpac::mcp
