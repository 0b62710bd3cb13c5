// SPDX-License-Identifier: Apache-2.0

// ProjectState: per-project files in the user's state folder, 256 of a kind, chosen
// by a digest of the project's place: two projects may share one. Other users cannot open them.
#pragma once

#include <filesystem>

#include "core/file.h"
#include "project/folders.h"

namespace mcpac::project {

// Its file, in a folder that is made where it is missing.
[[nodiscard]] std::filesystem::path project_state_file(const Folders& folders, const char* kind,
                                                       const std::filesystem::path& config_file);

// Made where it is missing. Not open: the state folder cannot be written.
[[nodiscard]] UniqueFd open_project_state(const Folders& folders, const char* kind,
                                          const std::filesystem::path& config_file);

}  // namespace mcpac::project
