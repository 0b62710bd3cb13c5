// The warden's loop: requests from the host, ends of children. One thread, no secrets.
#pragma once

namespace mcpac::sandbox {

// Serves the host at the other end of `socket` until it goes away; then kills every child and
// returns.
int serve(int socket);

}  // namespace mcpac::sandbox
