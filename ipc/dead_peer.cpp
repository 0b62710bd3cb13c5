// SPDX-License-Identifier: Apache-2.0

#include "ipc/dead_peer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <tuple>

namespace mcpac::ipc {

void notice_dead_peer(boost::asio::ip::tcp::socket& socket) {
  const auto set = [&](int level, int option, int value) {
    std::ignore = ::setsockopt(socket.native_handle(), level, option, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(kAskedAfter.count()));
  set(IPPROTO_TCP, TCP_KEEPINTVL, static_cast<int>(kAskedAgain.count()));
  set(IPPROTO_TCP, TCP_KEEPCNT, kAskedTimes);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(std::chrono::milliseconds(kUntaken).count()));
}

}  // namespace mcpac::ipc
