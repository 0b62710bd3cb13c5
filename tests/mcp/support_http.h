// One client that is connected to a server over HTTP.
#pragma once

#include "mcp/support_connected.h"

namespace mcpac::test {

struct ConnectedOverHttp : Connection {
  using Connection::Connection;
  ~ConnectedOverHttp() {
    end();
    loop.restart();
    loop.run();  // ends only when nothing is left to wait for
  }
};

}  // namespace mcpac::test
