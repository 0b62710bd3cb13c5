// SPDX-License-Identifier: Apache-2.0

#include "mcp/address.h"

#include <array>

#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

namespace mcpac::mcp {
namespace ip = boost::asio::ip;
namespace {

struct Block {
  const char* first;
  unsigned short bits;
};

constexpr std::array<Block, 14> kSpecial4 = {{{"0.0.0.0", 8},
                                              {"10.0.0.0", 8},
                                              {"100.64.0.0", 10},
                                              {"127.0.0.0", 8},
                                              {"169.254.0.0", 16},
                                              {"172.16.0.0", 12},
                                              {"192.0.0.0", 24},
                                              {"192.0.2.0", 24},
                                              {"192.168.0.0", 16},
                                              {"198.18.0.0", 15},
                                              {"198.51.100.0", 24},
                                              {"203.0.113.0", 24},
                                              {"224.0.0.0", 4},
                                              {"240.0.0.0", 4}}};

bool is_public_v4(const ip::address_v4& address) {
  for (const Block& block : kSpecial4) {
    const ip::network_v4 network(ip::make_address_v4(block.first), block.bits);
    const ip::network_v4 around(address, block.bits);
    if (around.network() == network.network()) return false;
  }
  return true;
}

// Global unicast is 2000::/3; inside of it are documentation, benchmarks, and forms that carry an
// IPv4 address (6to4, Teredo), which no login needs.
bool is_public_v6(const ip::address_v6& address) {
  const auto bytes = address.to_bytes();
  if (address.is_v4_mapped()) return is_public_v4(ip::make_address_v4(ip::v4_mapped, address));
  if ((bytes[0] & 0xe0U) != 0x20U) return false;
  const unsigned first = (unsigned{bytes[0]} << 8U) | bytes[1];
  const unsigned second = (unsigned{bytes[2]} << 8U) | bytes[3];
  if (first == 0x2002) return false;                     // 6to4
  if (first == 0x2001 && second < 0x0200) return false;  // Teredo, benchmarks, ORCHID
  return !(first == 0x2001 && second == 0x0db8);         // documentation
}

}  // namespace

bool is_public(const ip::address& address) {
  return address.is_v4() ? is_public_v4(address.to_v4()) : is_public_v6(address.to_v6());
}

Reach reach_at(const ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    return reach_at(ip::make_address_v4(ip::v4_mapped, address.to_v6()));
  constexpr unsigned kLinkLocal4 = 0xa9fe;  // 169.254/16
  const bool is_link_local = address.is_v4() ? (address.to_v4().to_uint() >> 16U) == kLinkLocal4
                                             : address.to_v6().is_link_local();
  if (address.is_loopback() || address.is_unspecified()) return Reach::kAnywhere;
  if (is_link_local) return Reach::kLink;
  return is_public(address) ? Reach::kPublic : Reach::kNetwork;
}

}  // namespace mcpac::mcp
