// SPDX-License-Identifier: Apache-2.0

#include "network/own_addresses.h"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

namespace mcpac::network {
namespace {

std::optional<policy::IpAddress> address_of(const sockaddr* socket_address) {
  policy::IpAddress address;
  if (socket_address == nullptr) return std::nullopt;
  if (socket_address->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, socket_address, sizeof v4);
    address.v4 = true;
    std::memcpy(address.bytes.data(), &v4.sin_addr, sizeof v4.sin_addr);
    return address;
  }
  if (socket_address->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6{};
  std::memcpy(&v6, socket_address, sizeof v6);
  std::memcpy(address.bytes.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
  return policy::unwrap(address);
}

}  // namespace

bool is_own_address(const policy::IpAddress& address) {
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) return true;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(found, ::freeifaddrs);
  for (const ifaddrs* one = found; one != nullptr; one = one->ifa_next) {
    if (address_of(one->ifa_addr) == address) return true;
  }
  return false;
}

}  // namespace mcpac::network
