// SPDX-License-Identifier: Apache-2.0

// LaunchProfile: files that a server's program needs to run at all, found from how it is started:
// its program with the links that lead there, interpreters, and the trees of its script.
//
// What it works on is no part of that: the files of its entry say so. Nothing of /usr is named
// here, which every confined server has (confine_servers.cpp).
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "mcp/child_process.h"

namespace mcpac::servers {

struct LaunchProfile {
  // To read and to execute; real paths, existing, none in another.
  std::set<std::filesystem::path> trees;
  // Symbolic links on the way there, outside of the trees: where they lie, and their texts.
  std::map<std::filesystem::path, std::filesystem::path> links;
  // Index in SpawnOptions::arguments of the first that the server itself reads: behind its program,
  // and behind a launcher's options and script. Their number where none is.
  std::size_t first_own = 0;
  // Names of its program: by its file, its script or module, and the package of that. Not by what
  // interprets it.
  std::set<std::string> names = {};
  // Python runs it, which lists the folder of its script, or the one that it starts in, by itself.
  bool is_python = false;
};

// Folders that are no server's own, however it is started: that of mcpac.json, the user's home,
// mcpac's. Neither they nor what they lie in are taken as the tree of a script.
using ForeignFolders = std::vector<std::filesystem::path>;
// One of those, `/`, `/tmp`, `/home`, or a folder that one of them lies in.
[[nodiscard]] bool is_foreign(const std::filesystem::path& folder, const ForeignFolders& foreign);

// `start`: the absolute folder that it starts in. kServerStart where the program cannot be run in a
// sandbox, with what to write instead: a launcher that downloads, a container, a set-id file, a
// script without its interpreter. `programs`: others that it is run by.
[[nodiscard]] Result<LaunchProfile> launch_profile_of(
    const mcp::SpawnOptions& options, const std::filesystem::path& start,
    const ForeignFolders& foreign, std::span<const std::filesystem::path> programs = {});

// Of the system: in every sandbox of a server.
[[nodiscard]] bool is_of_system(const std::filesystem::path& path);

}  // namespace mcpac::servers
