// SPDX-License-Identifier: Apache-2.0

// ReadUpper: reads the upper layer of an overlay as changes to the folder below it.
//
// The upper folder was written by the kernel for a hostile program: file = added or modified,
// character device 0:0 = deleted, folder with user.overlay.opaque = replaced, other folder =
// merged.
#pragma once

#include <cstdint>
#include <vector>

#include "history/changes/change.h"

namespace mcpac::history {

inline constexpr std::size_t kMostChanges = 50'000;

// Both are open folders. `started`: when the run began, in nanoseconds since 1970, by the clock
// that stamps files; what changed in `lower` since then has moved on. A folder comes before what is
// added to it and after what is deleted from it. kChangesLimit where there are too many.
[[nodiscard]] Result<std::vector<Change>> read_upper(int upper, int lower, std::int64_t started);

}  // namespace mcpac::history
