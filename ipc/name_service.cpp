// SPDX-License-Identifier: Apache-2.0

#include "ipc/name_service.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace mcpac::ipc {
namespace asio = boost::asio;

void add_address(Addresses& addresses, asio::ip::address address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  if (std::ranges::find(addresses, address) == addresses.end())
    addresses.push_back(std::move(address));
}

Result<Addresses> ask_name_service(const std::string& name) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int failed = ::getaddrinfo(name.c_str(), nullptr, &hints, &list);
  if (failed != 0) return fail(ErrorId::kNetworkName, ::gai_strerror(failed));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  Addresses addresses;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family == AF_INET) {
      sockaddr_in v4{};
      std::memcpy(&v4, entry->ai_addr, sizeof v4);
      add_address(addresses, asio::ip::address_v4(ntohl(v4.sin_addr.s_addr)));
    } else if (entry->ai_family == AF_INET6) {
      sockaddr_in6 v6{};
      std::memcpy(&v6, entry->ai_addr, sizeof v6);
      asio::ip::address_v6::bytes_type bytes;
      std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
      add_address(addresses, asio::ip::address_v6(bytes, v6.sin6_scope_id));
    }
  }
  return addresses;
}

}  // namespace mcpac::ipc
