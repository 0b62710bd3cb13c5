#include "ipc/dead_peer.h"

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>

namespace mcpac::ipc {
namespace {

using Tcp = boost::asio::ip::tcp;

int option_of(Tcp::socket& socket, int level, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  REQUIRE(::getsockopt(socket.native_handle(), level, option, &value, &size) == 0);
  return value;
}

}  // namespace

TEST_CASE("a connection asks after a minute of silence, and waits two for what was sent") {
  boost::asio::io_context loop;
  Tcp::acceptor door(loop, {boost::asio::ip::make_address("127.0.0.1"), 0});
  Tcp::socket socket(loop);
  socket.connect(door.local_endpoint());
  REQUIRE(option_of(socket, SOL_SOCKET, SO_KEEPALIVE) == 0);
  notice_dead_peer(socket);
  CHECK(option_of(socket, SOL_SOCKET, SO_KEEPALIVE) == 1);
  CHECK(option_of(socket, IPPROTO_TCP, TCP_KEEPIDLE) == 60);
  CHECK(option_of(socket, IPPROTO_TCP, TCP_KEEPINTVL) == 15);
  CHECK(option_of(socket, IPPROTO_TCP, TCP_KEEPCNT) == 4);
  CHECK(option_of(socket, IPPROTO_TCP, TCP_USER_TIMEOUT) == 120'000);
}

}  // namespace mcpac::ipc
