#include "ipc/dead_peer.h"

#include <doctest/doctest.h>

#include <boost/asio/io_context.hpp>

#include "ipc/support_connections.h"

namespace mcpac::ipc {

using Tcp = boost::asio::ip::tcp;

TEST_CASE("a connection asks after a minute of silence, and waits two for what was sent") {
  boost::asio::io_context loop;
  Tcp::acceptor door(loop, {boost::asio::ip::make_address("127.0.0.1"), 0});
  Tcp::socket socket(loop);
  socket.connect(door.local_endpoint());
  REQUIRE(test::option_of(socket.native_handle(), SOL_SOCKET, SO_KEEPALIVE) == 0);
  notice_dead_peer(socket);
  test::check_notices_dead_peer(socket.native_handle());
}

}  // namespace mcpac::ipc
