// SPDX-License-Identifier: Apache-2.0

// Open files: as many as the doors of `mcpac serve` need.
//
// A connection takes a descriptor. The soft limit of a shell is often 1,024; it is raised as far as
// connections need and the hard limit admits. What mcpac starts inherits it.
#pragma once

#include <cstddef>

namespace mcpac::cli {

// Number of connections for each of so many doors, `wanted` at most.
[[nodiscard]] std::size_t make_room_for_connections(std::size_t doors, std::size_t wanted);
// The same, from the limits alone: pure.
[[nodiscard]] std::size_t connections_within(std::size_t descriptors, std::size_t doors,
                                             std::size_t wanted);

}  // namespace mcpac::cli
