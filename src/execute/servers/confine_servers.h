// Confined servers: stdio servers with a "sandbox" in their entry, as children of a warden, with
// what their entry gives, what their program needs to run (launch_profile.h), and the least of a
// system. What is not given does not exist for them, however it is spelled (docs/adr/0057).
#pragma once

#include <vector>

#include "execute/project/folders.h"
#include "execute/project/project.h"
#include "mcp/child_process.h"
#include "sandbox/sandbox.h"

namespace mcpac::execute {

// Sets ServerConfig::confiner of each server that has a "sandbox". Their warden is theirs alone,
// and starts with the first of them; it ends with the last that refers to it.
void confine_servers(Project& project, const Folders& folders);

// What such a server gets, for the warden. `options` are those of its start, expanded. The
// descriptors are not set.
[[nodiscard]] Result<sandbox::Spec> confined_spec(const Project& project, const Folders& folders,
                                                  const mcp::SpawnOptions& options);

// Homes of the user as servers know them: by the system's record of users, and by HOME, which
// servers without a sandbox get. Without links; none twice.
[[nodiscard]] std::vector<std::filesystem::path> homes_of_servers();

// The home folder of a confined server, which is empty when it starts and gone with it.
inline constexpr const char* kConfinedHome = "/home/mcpac-server";

}  // namespace mcpac::execute
