// SPDX-License-Identifier: Apache-2.0

// Packets with descriptors over a SOCK_SEQPACKET socket.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/file.h"
#include "sandbox/protocol.h"

namespace mcpac::sandbox {

struct Packet {
  std::string bytes;  // empty: the other side has closed
  std::vector<UniqueFd> descriptors;
};

// 0 or errno.
[[nodiscard]] int send_packet(int socket, std::string_view bytes, std::span<const int> descriptors);
// The packet, or errno. One of more than `most` bytes is EMSGSIZE.
[[nodiscard]] std::expected<Packet, int> receive_packet(int socket,
                                                        std::size_t most = kLargestPacket);

}  // namespace mcpac::sandbox
