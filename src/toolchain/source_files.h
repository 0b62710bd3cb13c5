// SPDX-License-Identifier: Apache-2.0

// SourceFiles: the files and folders that a user names, as one program.
#pragma once

#include <filesystem>
#include <vector>

#include "core/error.h"
#include "toolchain/snapshot.h"

namespace mcpac::toolchain {

// A folder stands for every *.cpp below it, in the order of their names, except in hidden folders,
// build folders and servers/; links are not followed. The folder that all have in common is where
// `#include "…"` may look. kSourceUnreadable where there is nothing, too much, or no such folder.
[[nodiscard]] Result<Source> source_from_files(const std::vector<std::filesystem::path>& paths);

}  // namespace mcpac::toolchain
