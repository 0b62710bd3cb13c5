// SPDX-License-Identifier: Apache-2.0

// PrivateFolder: a folder of the cache, trusted because its owner alone may write to it.
#pragma once

#include <filesystem>

#include "core/error.h"

namespace mcpac::project {

// Makes the folder and its parents where they are missing. kFileUnwritable where another user owns
// it, or it is open to others afterwards all the same.
[[nodiscard]] Result<void> make_private(const std::filesystem::path& folder);

}  // namespace mcpac::project
