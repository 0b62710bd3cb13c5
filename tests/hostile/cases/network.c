/* Network: sockets of every kind, the host's listeners, and the channel as a socket. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "cases.h"

CALL(socket_tcp, SYS_socket, AF_INET, SOCK_STREAM, 0)
CALL(socket_udp, SYS_socket, AF_INET, SOCK_DGRAM, 0)
CALL(socket_tcp6, SYS_socket, AF_INET6, SOCK_STREAM, 0)
CALL(socket_udp6, SYS_socket, AF_INET6, SOCK_DGRAM, 0)
CALL(socket_raw, SYS_socket, AF_INET, SOCK_RAW, IPPROTO_ICMP)
CALL(socket_packet, SYS_socket, AF_PACKET, SOCK_RAW, 0)
CALL(socket_unix, SYS_socket, AF_UNIX, SOCK_STREAM, 0)
CALL(socket_unix_datagram, SYS_socket, AF_UNIX, SOCK_DGRAM, 0)
CALL(socket_netlink, SYS_socket, AF_NETLINK, SOCK_RAW, 0)
CALL(socket_vsock, SYS_socket, AF_VSOCK, SOCK_STREAM, 0)
CALL(socket_crypto, SYS_socket, AF_ALG, SOCK_SEQPACKET, 0)
CALL(socket_bluetooth, SYS_socket, AF_BLUETOOTH, SOCK_RAW, 1)
CALL(socket_express, SYS_socket, 44 /* AF_XDP */, SOCK_RAW, 0)
CALL(socket_pair, SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, (int[2]){0})

/* The host listens on all of these while a case runs. */
CASE(reach_loopback) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  return fd < 0 ? -1 : connect(fd, (struct sockaddr*)&to, sizeof to);
}
CASE(reach_loopback_udp) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  return fd < 0 ? -1 : sendto(fd, "x", 1, 0, (struct sockaddr*)&to, sizeof to);
}
CASE(reach_path) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  snprintf(to.sun_path, sizeof to.sun_path, "%.100s", at("socket"));
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  return fd < 0 ? -1 : connect(fd, (struct sockaddr*)&to, sizeof to);
}
CASE(reach_abstract) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  int size = snprintf(to.sun_path + 1, sizeof to.sun_path - 1, "mcpac-hostile-%d", host);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0) return -1;
  return connect(fd, (struct sockaddr*)&to,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size));
}
CASE(listen_loopback) {
  struct sockaddr_in here = {.sin_family = AF_INET};
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0 || bind(fd, (struct sockaddr*)&here, sizeof here) != 0) return -1;
  return listen(fd, 1);
}
/* Whatever is open, turned to another end. */
CASE(redirect_channel) {
  struct sockaddr none = {.sa_family = AF_UNSPEC};
  return looked_at(connect(kChannel, &none, sizeof none), EINVAL);
}
CALL(bind_channel, SYS_bind, kChannel, &(struct sockaddr_un){.sun_family = AF_UNIX}, 2)
NONSENSE(listen_channel, EINVAL, SYS_listen, kChannel, 1)
NONSENSE(accept_channel, EINVAL, SYS_accept4, kChannel, NULL, NULL, 0)
CALL(name_of_channel, SYS_getsockname, kChannel, (char[128]){0}, &(socklen_t){128})
CALL(peer_of_channel, SYS_getpeername, kChannel, (char[128]){0}, &(socklen_t){128})
CALL(host_of_channel, SYS_getsockopt, kChannel, SOL_SOCKET, SO_PEERCRED, (char[16]){0},
     &(socklen_t){16})
CALL(buffer_of_channel, SYS_setsockopt, kChannel, SOL_SOCKET, SO_SNDBUF, &(int){1 << 20}, 4)
CALL(shut_channel, SYS_shutdown, kChannel, 0)
CASE(send_elsewhere) {
  struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = "/none"};
  return looked_at(sendto(kChannel, "x", 1, 0, (struct sockaddr*)&to, sizeof to), EISCONN);
}
CASE(receive_address) {
  char byte;
  struct sockaddr_un from;
  socklen_t size = sizeof from;
  return looked_at(
      recvfrom(kChannel, &byte, 1, MSG_DONTWAIT, (struct sockaddr*)&from, &size), EAGAIN);
}
CASE(talk_on_channel) { return write(kChannel, "x", 1); }
CALL(urgent_on_channel, SYS_sendto, kChannel, "x", 1, MSG_OOB, NULL, 0)
CASE(look_at_channel) {
  char byte;
  return looked_at(recvfrom(kChannel, &byte, 1, MSG_PEEK | MSG_DONTWAIT, NULL, NULL), EAGAIN);
}
CALL(fast_open_on_channel, SYS_sendto, kChannel, "x", 1, MSG_FASTOPEN, NULL, 0)
/* What libraries ask for. */
CALL(quiet_on_channel, SYS_sendto, kChannel, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0)
CASE(read_channel) {
  char byte;
  return looked_at(recvfrom(kChannel, &byte, 1, MSG_WAITALL | MSG_DONTWAIT, NULL, NULL), EAGAIN);
}
