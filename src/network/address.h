// An address as the network has it, and as rules read it.
#pragma once

#include <algorithm>

#include <boost/asio/ip/address.hpp>

#include "policy/match/ip_network.h"

namespace mcpac::network {

[[nodiscard]] inline policy::IpAddress to_policy(const boost::asio::ip::address& address) {
  policy::IpAddress result;
  result.v4 = address.is_v4();
  if (result.v4) {
    std::ranges::copy(address.to_v4().to_bytes(), result.bytes.begin());
  } else {
    std::ranges::copy(address.to_v6().to_bytes(), result.bytes.begin());
  }
  return result;
}

}  // namespace mcpac::network
