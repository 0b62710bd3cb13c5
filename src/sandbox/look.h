// SPDX-License-Identifier: Apache-2.0

// Look: snapshot of a child's thread, read by a process of its own.
//
// A reader of another's memory waits for the page, and a page of a mapped file may never come (FUSE
// whose server hangs); no signal ends that wait. So the warden never reads: another process does,
// is given a second, and is given up then. What it read is the child's word.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>

#include "sandbox/child_memory.h"
#include "sandbox/end_report.h"

namespace mcpac::sandbox {

struct Sight {
  Stand stand;
  std::array<char, 256> text{};
  bool came = false;  // what could be read is here
};

// `thread` stands still, with this program counter. `text`: an address to read a path from.
// Nothing but the counter where it could not be read, or not in time.
[[nodiscard]] Sight look_at(const ChildMemory& memory, std::uint64_t counter,
                            std::optional<std::uint64_t> stack_pointer,
                            std::optional<std::uint64_t> text = std::nullopt);

}  // namespace mcpac::sandbox
