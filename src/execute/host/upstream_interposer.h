// UpstreamInterposer: what stands before the servers of a host, or in their place, for all that is
// asked of them.
#pragma once

#include "gate/servers.h"
#include "gate/upstream.h"

namespace mcpac::execute {

class UpstreamInterposer : public gate::Upstream, public gate::Servers {};

}  // namespace mcpac::execute
