// SPDX-License-Identifier: Apache-2.0

// Abandoned: files that a killed process left, recognised by name and removed by the next one.
//
// A writer of something temporary puts its mark into the name: where it runs (boot, namespaces of
// process ids and of time), its process id, and when it started. A name whose owner is gone is free
// to be removed. Nothing else is: not what lies in another boot or another container's namespace
// (whose processes cannot be seen from here), not what another user owns, not what a link leads to.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace mcpac {

// "at-7f3a09c2-4711-993311". Empty where /proc does not say it: then nothing is marked, nothing
// swept.
[[nodiscard]] std::string own_mark();

// A name of its own beside `target`, for what is to take its place: "TARGET.MARK.1f2e3d4c.tmp".
[[nodiscard]] std::filesystem::path name_beside(const std::filesystem::path& target);

// The names in the folder whose owners are dead; at most the first 50,000 entries are looked at.
[[nodiscard]] std::vector<std::string> abandoned_in(int folder);

// Removes what dead processes of this user left in the folder: folders of TemporaryFolder, files of
// name_beside(), sockets "NAME.MARK.new". Does not go into other folders, and does nothing in one
// where others could exchange a name under our hands. Returns how many it removed.
std::size_t sweep_abandoned(const std::filesystem::path& folder);

// Removes `name` in `folder` (an open directory, or AT_FDCWD with a path) with all that lies in it,
// however deep that is; also folders of this user's without any permission. Links are removed, and
// not followed, also where one is exchanged meanwhile. False: something of it stays.
[[nodiscard]] bool remove_tree(int folder, const std::string& name);

}  // namespace mcpac
