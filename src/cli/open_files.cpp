// SPDX-License-Identifier: Apache-2.0

#include "cli/open_files.h"

#include <sys/resource.h>

#include <algorithm>

namespace mcpac::cli {
namespace {

// Of servers over pipes (four each), logs, sockets, and what libraries open.
constexpr std::size_t kOthers = 256;
// Of servers over HTTP, as mcp/connection_room.h has it: connections in work, and kept ones.
constexpr std::size_t kOfServers = 512 + 256;
// With fewer no client is served; then the door's own accepting fails, and waits.
constexpr std::size_t kFewest = 16;

}  // namespace

std::size_t connections_within(std::size_t descriptors, std::size_t doors, std::size_t wanted) {
  const std::size_t others = kOthers + std::min(kOfServers, descriptors / 8 * 3);
  const std::size_t left = descriptors > others ? descriptors - others : 0;
  return std::clamp(left / std::max<std::size_t>(doors, 1), kFewest, std::max(wanted, kFewest));
}

std::size_t make_room_for_connections(std::size_t doors, std::size_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return connections_within(1'024, doors, wanted);
  const rlim_t needed = kOthers + kOfServers + doors * wanted;
  if (limit.rlim_cur < needed) {
    rlimit higher = limit;
    higher.rlim_cur = std::min<rlim_t>(needed, limit.rlim_max);
    if (::setrlimit(RLIMIT_NOFILE, &higher) == 0) limit = higher;
  }
  return connections_within(std::min<rlim_t>(limit.rlim_cur, needed), doors, wanted);
}

}  // namespace mcpac::cli
