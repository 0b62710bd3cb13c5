// SPDX-License-Identifier: Apache-2.0

// Sandbox of a confined server as a value: the mounts, variables and limits of one start.
//
// A start gets the system, its own program, folders of its own in memory, and the places of its
// entry and of the rules, without what these deny (docs/adr/0057).
#pragma once

#include <filesystem>
#include <vector>

#include "mcp/child_process.h"
#include "project/files/file_mounts.h"
#include "project/folders.h"
#include "project/project.h"
#include "sandbox/sandbox.h"
#include "servers/confine/launch_profile.h"
#include "servers/confine/server_places.h"

namespace mcpac::servers {

// Sandbox of a server with a "sandbox" in its entry, for the warden. `options` are those of its
// start, expanded; `by_rules` is what the rules give beside its entry. The descriptors are not set.
// `written` gets its places as they are now, for new_protected_names(); their mounts are in the
// Spec.
[[nodiscard]] Result<sandbox::Spec> confined_spec(const project::Project& project,
                                                  const project::Folders& folders,
                                                  const mcp::SpawnOptions& options,
                                                  const project::ServerPlaces& by_rules = {},
                                                  project::FileMounts* written = nullptr);

// Of this project: what no tree of a script holds (launch_profile.h).
[[nodiscard]] ForeignFolders foreign_folders(const project::Project& project,
                                             const project::Folders& folders);

// The folder that it starts in, without links, as those are not in the sandbox.
[[nodiscard]] Result<std::filesystem::path> start_of(const mcp::SpawnOptions& options);

// Homes of the user as servers know them, without links, none twice: first that of HOME, which
// servers without a sandbox get, then that of the system's record of users (home_of_user()), which
// "~/" means in rules and entries. What is refused of a home is refused of both. Of what is given
// in both under one name the first has it in the server's own home, as there the server looks.
[[nodiscard]] std::vector<std::filesystem::path> homes_of_servers();

// The home folder of a confined server, which is empty when it starts and gone with it.
inline constexpr const char* kConfinedHome = "/home/mcpac-server";

}  // namespace mcpac::servers
