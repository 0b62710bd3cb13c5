// SPDX-License-Identifier: Apache-2.0

// Resolver: from a name to addresses. An interface, so that tests can have a name that leads
// elsewhere the second time; the system's own is the only one that is shipped.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/address.hpp>

#include "core/error.h"

namespace mcpac::network {

class Resolver {
 public:
  virtual ~Resolver() = default;
  // Addresses in the order in which they are to be tried; never none. kNetworkName.
  [[nodiscard]] virtual boost::asio::awaitable<Result<std::vector<boost::asio::ip::address>>>
  resolve(std::string host) = 0;
  // Gives up what is being looked up: the waiter is told so.
  virtual void close() {}
};

// What /etc/hosts and the name servers of this machine say (names.h), found on threads of its own
// (ipc/lookups.h): a name server that does not answer holds up neither the loop nor its end.
[[nodiscard]] std::shared_ptr<Resolver> system_resolver(boost::asio::any_io_executor executor);

}  // namespace mcpac::network
