// Network: sockets, listeners of the host, the channel.
#include <doctest/doctest.h>

#include "hostile/support_matrix.h"

namespace mcpac::hostile {

TEST_SUITE("hostile/network") {
  TEST_CASE("no socket of any family is made") {
    check({
        {"socket_tcp", "EPERM"},
        {"socket_udp", "EPERM"},
        {"socket_tcp6", "EPERM"},
        {"socket_udp6", "EPERM"},
        {"socket_raw", "EPERM"},
        {"socket_packet", "EPERM"},
        {"socket_unix", "EPERM"},
        {"socket_unix_datagram", "EPERM"},
        {"socket_netlink", "EPERM"},
        {"socket_vsock", "EPERM"},
        {"socket_crypto", "EPERM", Control::kNone, "not in every kernel"},
        {"socket_bluetooth", "EPERM", Control::kNone, "not in every kernel"},
        {"socket_express", "EPERM"},
        {"socket_pair", "EPERM"},
    });
  }

  TEST_CASE("what the host listens on is not reached, and nobody listens inside") {
    check({
        {"reach_loopback", "EPERM"},
        {"reach_loopback_udp", "EPERM"},
        {"reach_path", "EPERM"},
        {"reach_abstract", "EPERM"},
        {"listen_loopback", "EPERM"},
    });
  }

  TEST_CASE("the channel stays what it is") {
    check({
        {"redirect_channel", "EPERM"},
        {"bind_channel", "EPERM"},
        {"listen_channel", "EPERM"},
        {"accept_channel", "EPERM"},
        {"name_of_channel", "EPERM"},
        {"peer_of_channel", "EPERM"},
        {"host_of_channel", "EPERM"},
        {"buffer_of_channel", "EPERM"},
        {"shut_channel", "EPERM"},
        {"send_elsewhere", "EPERM"},
        {"receive_address", "EPERM"},
        {"talk_on_channel", "works"},
        {"urgent_on_channel", "violated sendto"},
        {"fast_open_on_channel", "violated sendto"},
        {"look_at_channel", "violated recvfrom"},
        {"quiet_on_channel", "works"},
        {"read_channel", "works"},
    });
  }
}

}  // namespace mcpac::hostile
