// SPDX-License-Identifier: Apache-2.0

// Addresses of a URL's host, without holding up the loop, or its end, when the name server is
// silent.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/error.h"
#include "ipc/name_service.h"
#include "mcp/url.h"

namespace mcpac::mcp {

// The addresses in the order in which they are to be tried; never none. Cancelling `patience` gives
// the look-up up, which half a minute does as well. kServerHttp.
[[nodiscard]] boost::asio::awaitable<Result<ipc::Addresses>> addresses_of(
    const Url& url, boost::asio::steady_timer& patience);

}  // namespace mcpac::mcp
