// SPDX-License-Identifier: Apache-2.0

// Scratch files: temporary files of one run, in a folder that is removed with it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "core/error.h"

namespace mcpac::toolchain {

// Makes the file, which is not there yet, with exactly this mode. Unlike write_file_atomic()
// nothing waits for the disk: a machine that loses power has lost the run as well.
[[nodiscard]] Result<void> write_scratch(const std::filesystem::path& file, std::string_view bytes,
                                         unsigned mode);
// Makes the folder, which is not there yet, with exactly this mode.
[[nodiscard]] Result<void> make_scratch_folder(const std::filesystem::path& folder, unsigned mode);
// Path below the folder -> bytes: readable by all, with the folders on the way.
[[nodiscard]] Result<void> write_scratch_files(const std::filesystem::path& folder,
                                               const std::map<std::string, std::string>& files);

}  // namespace mcpac::toolchain
