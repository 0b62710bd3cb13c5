// SPDX-License-Identifier: Apache-2.0

// Wire: one message of the resident host, whole, with descriptors and its sender.
//
// SOCK_SEQPACKET keeps messages apart; the kernel writes the sender's process and user beside each
// (SCM_CREDENTIALS), which only a privileged process could claim falsely. What is longer, carries
// more descriptors or comes without a sender is refused, and its descriptors are closed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "core/json.h"

namespace mcpac::resident {

inline constexpr std::size_t kMaxMessage = std::size_t{32} << 10U;
inline constexpr std::size_t kMaxDescriptors = 8;

struct Message {
  Json body;  // an object
  std::vector<UniqueFd> descriptors;
  pid_t process = 0;  // of the sender, as this process counts; 0: in another namespace
  uid_t user = 0;
};

enum class Arrival : std::uint8_t { kMessage, kNothingYet, kClosed, kRefused };
struct Received {
  Arrival arrival = Arrival::kClosed;
  Message message{};
};

struct SocketPair {
  UniqueFd ours;
  UniqueFd theirs;
};
[[nodiscard]] Result<SocketPair> make_socket_pair();

// Asks the kernel to tell the sender of every message; before the other side sends its first.
[[nodiscard]] bool tell_senders(int socket);
// False where the other side is gone, or does not take it (a socket that does not block).
[[nodiscard]] bool send_message(int socket, const Json& body,
                                std::span<const int> descriptors = {});
// Blocks where the socket does. kRefused: too long, too many descriptors, no JSON object, no
// sender; the connection is of no more use then.
[[nodiscard]] Received receive_message(int socket);
// True: a message is there, or the end of them. False: `signals` became readable.
[[nodiscard]] bool wait_for_message(int socket, int signals);

}  // namespace mcpac::resident
