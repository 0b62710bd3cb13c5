// SPDX-License-Identifier: Apache-2.0

// From where an address can be reached (IANA's registries of special-purpose addresses).
#pragma once

#include <cstdint>

#include <boost/asio/ip/address.hpp>

namespace mcpac::mcp {

// Not loopback, private, link-local, shared, reserved or multicast.
[[nodiscard]] bool is_public(const boost::asio::ip::address& address);

// Which places a host may lead to: those that it reaches itself, and none that only this machine
// does. Each has those before it.
enum class Reach : std::uint8_t {
  kPublic,
  kNetwork,   // private networks
  kLink,      // link-local addresses
  kAnywhere,  // this machine: loopback, unspecified
};
// What it takes to come to this address, and what a host there has.
[[nodiscard]] Reach reach_at(const boost::asio::ip::address& address);

}  // namespace mcpac::mcp
