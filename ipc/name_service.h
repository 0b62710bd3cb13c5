// SPDX-License-Identifier: Apache-2.0

// Look-up of a host by this machine's name service. Blocking, for threads of their own (lookups.h).
#pragma once

#include <string>
#include <vector>

#include <boost/asio/ip/address.hpp>

#include "core/error.h"

namespace mcpac::ipc {

using Addresses = std::vector<boost::asio::ip::address>;

// Each once, an IPv4 address as one, in the order in which they are to be tried; may be none.
void add_address(Addresses& addresses, boost::asio::ip::address address);

// getaddrinfo for exactly this text: without a final dot the search domains of this machine count.
// kNetworkName.
[[nodiscard]] Result<Addresses> ask_name_service(const std::string& name);

}  // namespace mcpac::ipc
