// SPDX-License-Identifier: Apache-2.0

// FolderAccess: files below an open folder, reached name by name and never through a link.
//
// The content of a changeset is hostile and the user's folder may be changed by others meanwhile,
// so nothing here takes a path from the root.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/file.h"

namespace mcpac::history {

// An absolute folder without links among its components; empty with errno set where it is not
// there.
[[nodiscard]] UniqueFd open_folder(const std::filesystem::path& path);
// Anything below `root` (RESOLVE_BENEATH, no links, no other mount); "" is `root` itself.
[[nodiscard]] UniqueFd open_beneath(int root, const std::filesystem::path& path, int flags);
// The same for a path of any length, longer than the kernel takes at once: in pieces.
[[nodiscard]] UniqueFd open_deep(int root, const std::filesystem::path& path, int flags);
// Of what lies there itself, link or not; nothing where there is nothing.
[[nodiscard]] std::optional<struct stat> look_beneath(int root, const std::filesystem::path& path);
// Each name in the folder, as the kernel has them, until `take` says false. False: it did, or the
// folder cannot be listed.
[[nodiscard]] bool each_name(int folder, const std::function<bool(const char*)>& take);
// Sorted; nothing where the folder cannot be listed, or has more.
[[nodiscard]] std::optional<std::vector<std::string>> names_in(int folder, std::size_t most);
// The most sets of changes that are listed.
inline constexpr std::size_t kMostListed = 10'000;

// The SHA-256 of a regular file, read in pieces; nothing where it cannot be read.
[[nodiscard]] std::optional<std::string> digest_of_file(int file);

// Removes the folder `name` in `parent` with everything in it, whatever its modes are; links are
// removed, not followed. False: something is left.
[[nodiscard]] bool remove_tree(int parent, const std::string& name);

}  // namespace mcpac::history
