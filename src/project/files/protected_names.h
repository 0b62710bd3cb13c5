// SPDX-License-Identifier: Apache-2.0

// ProtectedNames: files that tools run or obey merely because the folder they lie in is entered,
// opened or cloned, and files that hold the keys of tools.
//
// A program that may write a folder must not be able to make the user's next `git`, editor or shell
// run something, so these names stay as they are in every folder that is granted read-write, at any
// depth. Build files that a person runs on purpose (Makefile, package.json) are not among them:
// writing those is what such a grant is for (docs/files.md, docs/adr/0022).
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace mcpac::project {

// One component of a path. Some file systems take names for the same that differ in case or in
// invisible code points (casefold of ext4 and f2fs), so a name is protected however it is written.
[[nodiscard]] bool is_protected_name(std::string_view name);
// Whether any component is one.
[[nodiscard]] bool has_protected_name(const std::filesystem::path& path);
// Whether a folder called so in ~/.config is that of a program which is known to run or obey what
// lies there, or to keep keys in it. `.config` itself is protected for what these do.
[[nodiscard]] bool is_protected_settings(std::string_view name);
// The table (protected_names.inc).
struct ProtectedName {
  std::string_view name;  // folded (core/folded_name.h); one '*' stands for any characters
  std::string_view obeyed_by;
  std::string_view source;
};
[[nodiscard]] std::span<const ProtectedName> protected_names();

struct ProtectedFound {
  // Protected files and folders, and folders that are repositories by what they hold
  // (core/repository.h): `at` itself can be one.
  std::vector<std::filesystem::path> names;
  // Folders that cannot be looked through, and that a program of this user's could still write in:
  // there can be any name below them.
  std::vector<std::filesystem::path> closed;
  // Protected names that are links or special files, which no mount covers.
  std::vector<std::filesystem::path> links;
  // The first folder whose file system takes names for the same that differ in case
  // (core/folds_case.h).
  std::filesystem::path folding;
};
// Below `folder` (an open directory; `at` is its path). Links are not followed. kFilesRefused where
// the folder has more entries than can be looked at.
[[nodiscard]] Result<ProtectedFound> find_protected(int folder, const std::filesystem::path& at);

}  // namespace mcpac::project
