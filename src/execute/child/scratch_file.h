// Scratch files: what one run writes for itself, in a folder that goes with it.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/error.h"

namespace mcpac::execute {

// Makes the file, which is not there yet, with exactly this mode. Unlike write_file_atomic()
// nothing waits for the disk: a machine that loses power has lost the run as well.
[[nodiscard]] Result<void> write_scratch(const std::filesystem::path& file, std::string_view bytes,
                                         unsigned mode);

}  // namespace mcpac::execute
