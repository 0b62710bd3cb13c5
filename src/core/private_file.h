// SPDX-License-Identifier: Apache-2.0

// Private files: readable and writable by their owner alone, changed by one process at a time.
//
// A file that others may have written is not read: readers take its content for the user's word.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/file.h"

namespace mcpac {

// The bytes of a regular file that is ours alone (0600 or less); nothing where there is none.
// `is_passing` is set: of an error that is the machine's of now and says nothing of the file, as
// where no descriptor or no memory is left.
[[nodiscard]] Result<std::optional<std::string>> read_private_file(
    const std::filesystem::path& file, std::size_t max_bytes, bool* is_passing = nullptr);

// Held until it is dropped: two processes that read, change and write a file of this folder would
// each lose what the other wrote. The folder is made (0700), and its name synced, where there is
// none. `what` stands in
// the error: "kept approvals".
[[nodiscard]] Result<UniqueFd> take_turn(const std::filesystem::path& folder,
                                         std::string_view what);

}  // namespace mcpac
