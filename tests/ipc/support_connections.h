// The TCP connections that this process holds, and what their sockets are set to: whoever makes
// them keeps the sockets to itself.
#pragma once

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <vector>

namespace mcpac::test {

// Those over IPv4 whose port at that end this is.
enum class End : std::uint8_t { kOurs, kTheirs };
inline std::vector<int> connections_of_port(End end, int port) {
  constexpr int kDescriptors = 1'024;
  std::vector<int> found;
  for (int fd = 0; fd < kDescriptors; ++fd) {
    std::array<sockaddr_in, 2> ends{};
    socklen_t size = sizeof(sockaddr_in);
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&ends[1]), &size) != 0) continue;
    size = sizeof(sockaddr_in);
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(ends.data()), &size) != 0) continue;
    const sockaddr_in& wanted = ends[end == End::kOurs ? 0 : 1];
    if (wanted.sin_family == AF_INET && ntohs(wanted.sin_port) == port) found.push_back(fd);
  }
  return found;
}

inline int option_of(int fd, int level, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  REQUIRE(::getsockopt(fd, level, option, &value, &size) == 0);
  return value;
}

// Ends when its other side is gone without a word (ipc/dead_peer.h).
inline void check_notices_dead_peer(int fd) {
  CHECK(option_of(fd, SOL_SOCKET, SO_KEEPALIVE) == 1);
  CHECK(option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE) == 60);
  CHECK(option_of(fd, IPPROTO_TCP, TCP_KEEPINTVL) == 15);
  CHECK(option_of(fd, IPPROTO_TCP, TCP_KEEPCNT) == 4);
  CHECK(option_of(fd, IPPROTO_TCP, TCP_USER_TIMEOUT) == 120'000);
}

}  // namespace mcpac::test
