// PrivateFolder: a folder of the cache that is trusted because nobody else may write to it.
#pragma once

#include <filesystem>

#include "core/error.h"

namespace mcpac::execute {

// Makes the folder and its parents where they are missing. kFileUnwritable where it is somebody
// else's, or open to others afterwards all the same.
[[nodiscard]] Result<void> make_private(const std::filesystem::path& folder);

}  // namespace mcpac::execute
