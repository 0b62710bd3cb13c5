// SPDX-License-Identifier: Apache-2.0

// UserFolders: folders of this user and of this installation (XDG Base Directory Specification: a
// relative path in a variable is ignored). Reads the environment; asks no library for names, so
// that bin/mcpac can be what it is (front_main.cpp).
#pragma once

#include <filesystem>
#include <string>

#include "project/folders.h"

namespace mcpac::cli {

// "" where it is not set.
[[nodiscard]] std::string environment_variable(const char* name);

// $VARIABLE/mcpac, or `otherwise`/mcpac.
[[nodiscard]] std::filesystem::path base_folder(const char* variable,
                                                const std::filesystem::path& otherwise);

[[nodiscard]] project::Folders user_folders(const std::filesystem::path& home,
                                            const std::filesystem::path& libexec);

// The program that this process runs, without links; empty where the kernel does not say it.
[[nodiscard]] std::filesystem::path own_program();

}  // namespace mcpac::cli
