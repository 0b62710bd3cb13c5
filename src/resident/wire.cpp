// SPDX-License-Identifier: Apache-2.0

#include "resident/wire.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace mcpac::resident {
namespace {

constexpr std::size_t kControlSpace =
    CMSG_SPACE(kMaxDescriptors * sizeof(int)) + CMSG_SPACE(sizeof(ucred));

// Control data beside the bytes. Descriptors are owned at once, whatever else is wrong.
bool take_control(msghdr& header, Message& message) {
  bool has_sender = false;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET) continue;
    if (part->cmsg_type == SCM_RIGHTS) {
      const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
        message.descriptors.emplace_back(fd);
      }
    } else if (part->cmsg_type == SCM_CREDENTIALS && part->cmsg_len == CMSG_LEN(sizeof(ucred))) {
      ucred sender{};
      std::memcpy(&sender, CMSG_DATA(part), sizeof sender);
      message.process = sender.pid;
      message.user = sender.uid;
      has_sender = true;
    }
  }
  return has_sender;
}

}  // namespace

Result<SocketPair> make_socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(ErrorId::kFileUnwritable, "cannot make a socket for a worker");
  SocketPair pair{UniqueFd(ends[0]), UniqueFd(ends[1])};
  if (!tell_senders(pair.ours.get()) || !tell_senders(pair.theirs.get()))
    return fail(ErrorId::kFileUnwritable, "cannot make a socket for a worker");
  return pair;
}

bool tell_senders(int socket) {
  const int yes = 1;
  return ::setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0;
}

bool send_message(int socket, const Json& body, std::span<const int> descriptors) {
  std::string bytes = to_text(body);
  if (bytes.size() > kMaxMessage || descriptors.size() > kMaxDescriptors) return false;
  iovec part{bytes.data(), bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control{};
  if (!descriptors.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(bytes.size());
}

Received receive_message(int socket) {
  Received received;
  std::string bytes(kMaxMessage, '\0');
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, kControlSpace> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t size = 0;
  do {
    size = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    received.arrival = Arrival::kNothingYet;
    return received;
  }
  if (size <= 0) return received;
  received.arrival = Arrival::kRefused;
  const bool has_sender = take_control(header, received.message);
  if (!has_sender || (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return received;
  auto body = parse_json(std::string_view(bytes).substr(0, static_cast<std::size_t>(size)));
  if (!body || !body->is_object()) return received;
  received.message.body = std::move(*body);
  received.arrival = Arrival::kMessage;
  return received;
}

bool wait_for_message(int socket, int signals) {
  std::array<pollfd, 2> watched{pollfd{socket, POLLIN, 0}, pollfd{signals, POLLIN, 0}};
  while (::poll(watched.data(), watched.size(), -1) < 0 && errno == EINTR) {
  }
  return watched[1].revents == 0;
}

}  // namespace mcpac::resident
