// mcpac-warden: makes sandboxes for one host and outlives neither it nor them.
//
// The host starts it with a socket as descriptor 3, early, before it holds secrets. It is a process
// of its own because (measured) a host that keeps secrets is not dumpable and so cannot write id
// maps, the parent-death signal follows the thread that spawned, and forking a large host takes
// longer than building the whole sandbox.
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdio>

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

// With an argument (Explore::kWhenAsked) nothing is tried out before there is a question.
int main(int count, char**) {
  constexpr int kHost = 3;
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(kHost, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET) {
    std::fputs("mcpac-warden is started by mcpac, with a socket as descriptor 3\n", stderr);
    return 64;
  }
  if (count > 1 && !wait_for_a_question(kHost)) return 0;
  return mcpac::sandbox::serve(kHost);
}
