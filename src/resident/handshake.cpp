// SPDX-License-Identifier: Apache-2.0

#include "resident/handshake.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "resident/nonce.h"
#include "resident/wire.h"

namespace mcpac::resident {

std::optional<StandardDescriptors> wait_for_go(int channel, pid_t client, int signals) {
  // The maker of the socket; the host held that process when it looked at it.
  const auto process = Process::peer_of(channel);
  if (!process || process->number() != client || why_apart_from_us(*process)) return std::nullopt;
  const std::string number = new_nonce();
  if (!send_message(channel, {{"ready", number}})) return std::nullopt;
  if (!wait_for_message(channel, signals)) return std::nullopt;
  auto received = receive_message(channel);
  Message& message = received.message;
  const bool is_go = received.arrival == Arrival::kMessage && message.process == client &&
                     string_member(message.body, "go") == number &&
                     message.descriptors.size() == std::tuple_size_v<StandardDescriptors>;
  if (!is_go) return std::nullopt;
  StandardDescriptors standard;
  std::ranges::move(message.descriptors, standard.begin());
  return standard;
}

std::optional<std::string> hear_ready(int channel) {
  const auto received = receive_message(channel);
  const std::string number = string_member(received.message.body, "ready");
  if (received.arrival != Arrival::kMessage || number.empty()) return std::nullopt;
  return number;
}

bool say_go(int channel, const std::string& number) {
  constexpr std::array<int, 3> kStandard{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  return send_message(channel, {{"go", number}}, kStandard);
}

}  // namespace mcpac::resident
