// SPDX-License-Identifier: Apache-2.0

#include "sandbox/packet.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace mcpac::sandbox {
namespace {

constexpr std::size_t kMostDescriptors = 8;

void take_descriptors(msghdr& message, Packet& packet) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      packet.descriptors.emplace_back(fd);
    }
  }
}

}  // namespace

int send_packet(int socket, std::string_view bytes, std::span<const int> descriptors) {
  if (bytes.size() > kLargestPacket || descriptors.size() > kMostDescriptors) return EMSGSIZE;
  iovec part{const_cast<char*>(bytes.data()),
             bytes.size()};  // NOLINT: sendmsg does not write to it
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> control{};
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent < 0 ? errno : 0;
}

std::expected<Packet, int> receive_packet(int socket, std::size_t most) {
  Packet packet;
  packet.bytes.resize(most);
  iovec part{packet.bytes.data(), packet.bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t size = 0;
  do {
    size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size < 0) return std::unexpected(errno);
  take_descriptors(message, packet);
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return std::unexpected(EMSGSIZE);
  packet.bytes.resize(static_cast<std::size_t>(size));
  return packet;
}

}  // namespace mcpac::sandbox
