// SPDX-License-Identifier: Apache-2.0

#include "mcp/connection_room.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

namespace mcpac::mcp {

ConnectionLimits ConnectionLimits::of_this_process() {
  constexpr std::size_t kFewest = 32;
  ConnectionLimits limits;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return limits;
  const auto quarter = static_cast<std::size_t>(files.rlim_cur / 4);
  limits.of_all = std::clamp(quarter, kFewest, limits.of_all);
  limits.of_server = std::min(limits.of_server, limits.of_all);
  limits.idle = std::min(limits.idle, limits.of_all / 2);
  return limits;
}

void ConnectionRoom::ring() {
  for (const auto& heard : std::exchange(waiting_, {})) heard();
}

}  // namespace mcpac::mcp
