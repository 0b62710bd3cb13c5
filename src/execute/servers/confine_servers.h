// Confined servers: stdio servers with a "sandbox" in their entry, as children of a warden, with
// what their entry gives, what their program needs to run (launch_profile.h), and the least of a
// system. What is not given does not exist for them, however it is spelled (docs/adr/0057).
#pragma once

#include <vector>

#include "execute/project/folders.h"
#include "execute/project/project.h"
#include "execute/servers/launch_profile.h"
#include "execute/servers/server_places.h"
#include "mcp/child_process.h"
#include "sandbox/sandbox.h"

namespace mcpac::execute {

// Sets ServerConfig::confiner of each server that has a "sandbox", and Project::confined, from
// which each start takes what the rules give by then. Their warden is theirs alone, and starts with
// the first of them; it ends with the last that refers to it.
void confine_servers(Project& project, const Folders& folders);

// What such a server gets, for the warden. `options` are those of its start, expanded; `by_rules`
// is what the rules give beside its entry. The descriptors are not set.
[[nodiscard]] Result<sandbox::Spec> confined_spec(const Project& project, const Folders& folders,
                                                  const mcp::SpawnOptions& options,
                                                  const ServerPlaces& by_rules = {});

// Of this project: what no tree of a script holds (launch_profile.h).
[[nodiscard]] ForeignFolders foreign_folders(const Project& project, const Folders& folders);

// The folder that it starts in, without links, as those are not in the sandbox.
[[nodiscard]] Result<std::filesystem::path> start_of(const mcp::SpawnOptions& options);

// The home folder of a confined server, which is empty when it starts and gone with it.
inline constexpr const char* kConfinedHome = "/home/mcpac-server";

}  // namespace mcpac::execute
