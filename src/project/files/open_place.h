// SPDX-License-Identifier: Apache-2.0

// OpenPlace: one granted place opened and judged by itself. Beside file_mounts.h, which is what
// others include.
#pragma once

#include <optional>

#include "project/files/file_mounts.h"
#include "project/project_place.h"

namespace mcpac::project {

// The command that makes what is not there: a file where it is called like one, else a folder, with
// those above it.
[[nodiscard]] std::string making(const std::filesystem::path& path);

// The place of a text with an unknown mode or a pattern: "data:rw" of "data:RW" and "data:w",
// "data" of "data:r", "data:RX" and "data/*"; empty: the text ends with none.
[[nodiscard]] std::string with_known_mode(std::string_view text);
inline constexpr const char* kModes =
    "the mode to write is :rw, behind the path; to read there is none, or :ro; a folder is given "
    "with all that lies in it";

// The rest of `path` below the folder with this identity, wherever else that is mounted and however
// it is written: "" for the folder itself; nothing where `path` does not lie in it.
[[nodiscard]] std::optional<std::filesystem::path> rest_below(const std::filesystem::path& path,
                                                              const sandbox::FileIdentity& folder);

[[nodiscard]] Result<GrantedPlace> open_place(const policy::FilePlace& place,
                                              const ReservedPlaces& reserved);

}  // namespace mcpac::project
