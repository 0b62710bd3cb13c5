// SPDX-License-Identifier: Apache-2.0

// Requests of `ps` and `down` to a resident host.
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <tuple>

#include "resident/client.h"
#include "resident/patience.h"
#include "resident/wire.h"

namespace mcpac::resident {
namespace {

bool ends_within(const Process& host, std::chrono::milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now())
            .count();
    pollfd ended{host.descriptor(), POLLIN, 0};
    const int n = ::poll(&ended, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (n > 0) return true;
    if (n == 0) return false;
    if (errno != EINTR) return false;
  }
}

}  // namespace

Result<std::optional<Json>> ask_host(const std::filesystem::path& folder, const Json& question) {
  auto connection = connect_to_host(folder);
  if (!connection) return pass_on(connection);
  if (!*connection) return std::nullopt;
  Json asked = question;
  asked["nonce"] = (*connection)->nonce;
  const int socket = (*connection)->socket.get();
  auto answer = send_message(socket, asked) ? receive_message(socket) : Received{};
  if (answer.arrival != Arrival::kMessage || find_member(answer.message.body, "alone") != nullptr)
    return fail(ErrorId::kRunUnreachable, "the resident host does not answer",
                {.why = string_member(answer.message.body, "alone"),
                 .fix = "mcpac down ends it, whatever it does"});
  return std::move(answer.message.body);
}

// By a signal, and not by a message: ending what is one's own needs no permission, so neither a
// host that hangs nor one that stands otherwise has to be heard.
Result<bool> end_host(const std::filesystem::path& folder,
                      std::chrono::milliseconds until_it_is_killed) {
  auto host = find_host(folder);
  if (!host) return pass_on(host);
  if (!*host) return false;
  const Process& process = **host;
  if (!process.signal(SIGTERM))
    return fail(ErrorId::kRunUnreachable, "the resident host cannot be told to end",
                {.why = "the kernel does not let this process signal it"});
  std::ignore = process.signal(SIGCONT);
  if (ends_within(process, patient(until_it_is_killed))) return true;
  // Its workers and all that they started go with it (docs/adr/0025, "Ends").
  std::ignore = process.signal(SIGKILL);
  if (ends_within(process, patient(kUntilItIsGone))) return true;
  return fail(ErrorId::kRunUnreachable, "the resident host does not end",
              {.why = "the kernel has not taken it down"});
}

}  // namespace mcpac::resident
