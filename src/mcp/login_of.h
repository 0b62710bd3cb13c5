// SPDX-License-Identifier: Apache-2.0

// make_authorizer(): the authorizer of a server in the configuration, if it has one.
#pragma once

#include <memory>

#include <boost/asio/any_io_executor.hpp>

#include "core/error.h"
#include "mcp/oauth/authorizer.h"
#include "mcp/secrets.h"
#include "mcp/server_config.h"

namespace mcpac::mcp {

// Null where the configuration has a header Authorization of its own. Expands what "auth" holds.
[[nodiscard]] Result<std::shared_ptr<oauth::Authorizer>> make_authorizer(
    boost::asio::any_io_executor executor, const ServerConfig& config,
    const std::shared_ptr<SecretValues>& secrets, oauth::ShowLogin show);

}  // namespace mcpac::mcp
