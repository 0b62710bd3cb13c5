// Which addresses the whole internet reaches (IANA's registries of special-purpose addresses).
#pragma once

#include <boost/asio/ip/address.hpp>

namespace mcpac::mcp {

// Not loopback, private, link-local, shared, reserved or multicast.
[[nodiscard]] bool is_public(const boost::asio::ip::address& address);

}  // namespace mcpac::mcp
