// SPDX-License-Identifier: Apache-2.0

// OwnAddresses: this machine's own addresses.
//
// A service that listens on all addresses is often kept from the world by a firewall outside of the
// machine; a connection that begins here does not pass it. Asked for at every dial, as addresses
// come and go. What stands for this machine elsewhere (a load balancer, NAT) is not known here.
#pragma once

#include "policy/match/ip_network.h"

namespace mcpac::network {

// Also where that cannot be found out.
[[nodiscard]] bool is_own_address(const policy::IpAddress& address);

}  // namespace mcpac::network
