// SPDX-License-Identifier: Apache-2.0

// mcpac-warden: makes sandboxes for one host and outlives neither it nor them.
//
// The host starts it with a socket as descriptor 3, early, before it holds secrets. It is a process
// of its own because (measured) a host that keeps secrets is not dumpable and so cannot write id
// maps, the parent-death signal follows the thread that spawned, and forking a large host takes
// longer than building the whole sandbox.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <span>
#include <string_view>

#include "sandbox/server.h"

namespace {

// False: the host has gone without one.
bool wait_for_a_question(int host) {
  pollfd waiting{host, POLLIN, 0};
  while (::poll(&waiting, 1, -1) < 0 && errno == EINTR) {
  }
  return (waiting.revents & POLLHUP) == 0;
}

}  // namespace

// Arguments, in any order: kWordWhenAsked (Explore::kWhenAsked): nothing is tried out before there
// is a question; kWordForServers (Explore::kForServers); kWordGivesBack: the host has moved into a
// control group of its own.
int main(int count, char** arguments) {
  const std::span words(arguments, static_cast<std::size_t>(count));
  const auto says = [words](std::string_view word) {
    return std::ranges::find(words, word) != words.end();
  };
  constexpr int kHost = 3;
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(kHost, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET) {
    std::fputs("mcpac-warden is started by mcpac, with a socket as descriptor 3\n", stderr);
    return 64;
  }
  if (says(mcpac::sandbox::kWordWhenAsked) && !wait_for_a_question(kHost)) return 0;
  using mcpac::sandbox::HostGroup;
  using mcpac::sandbox::Purpose;
  return mcpac::sandbox::serve(
      kHost, says(mcpac::sandbox::kWordGivesBack) ? HostGroup::kMoved : HostGroup::kAsFound,
      says(mcpac::sandbox::kWordForServers) ? Purpose::kServers : Purpose::kAny);
}
