// SPDX-License-Identifier: Apache-2.0

// UpstreamInterposer: base of decorators that wrap or replace all upstream servers of a host
// (recorder, replayer).
#pragma once

#include "gate/servers.h"
#include "gate/upstream.h"

namespace mcpac::servers {

class UpstreamInterposer : public gate::Upstream, public gate::Servers {};

}  // namespace mcpac::servers
