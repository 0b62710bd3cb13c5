// SPDX-License-Identifier: Apache-2.0

// PreparedCache: bound and use of prepared folders (prepare.h).
//
// Each set of servers that a program names has a folder of its own, and which words a program has
// is its author's business: without a bound, programs in a loop fill the disk. So those that were
// used last are kept. A user of one holds it, and what is held is not removed: a compiler that
// waits in its sandbox, in whatever process, reads from there.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "core/file.h"

namespace mcpac::toolchain {

struct PreparedBounds {
  std::size_t servers = 32;
  std::size_t runtimes = 4;  // of a toolchain and an mcpac: much larger, and seldom another one
};

using FolderUse = std::shared_ptr<const UniqueFd>;

// Says that the folder was used now, and holds it as long as the result lives. Null: there is none,
// or it is being removed, and then there is none either.
[[nodiscard]] FolderUse use_folder(const std::filesystem::path& folder);

// Of those that are not held. No other process may make or remove one meanwhile.
void drop_the_oldest(const std::filesystem::path& cache, PreparedBounds bounds = {});

}  // namespace mcpac::toolchain
