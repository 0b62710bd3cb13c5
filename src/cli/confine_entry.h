// SPDX-License-Identifier: Apache-2.0

// Confine entry: the "sandbox" of a server that is about to be written into mcpac.json, proposed by
// what its entry names (servers/confine/proposed_places.h) and tried once.
//
// Nothing is written here. A server is confined only where it started and listed its tools so;
// whether its calls work is not tried, and that is said.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "core/error.h"
#include "core/json.h"
#include "mcp/server_config.h"
#include "project/project.h"
#include "servers/confine/server_packages.h"

namespace mcpac::cli {

// The one server of an entry, as mcpac.json would have it.
[[nodiscard]] Result<mcp::ServerConfig> server_of(const std::string& name,
                                                  const OrderedJson& entry);

// The sandbox that `server` would have: `files` where there are some, else its own "sandbox", else
// a proposal; with `network` where that names hosts. Says it, and why.
[[nodiscard]] Result<mcp::Confinement> proposed_sandbox(const Context& context,
                                                        const mcp::ServerConfig& server,
                                                        const std::vector<std::string>& files,
                                                        const std::vector<std::string>& network);

// The trial of a sandbox, the same for every command: starts the server `name` of `project` in
// `sandbox` once, installing before what its launcher would download, and lists its tools. Nothing
// for a server that is disabled, which is not started.
[[nodiscard]] Result<std::optional<ServerListing>> start_in_sandbox(
    const Context& context, project::Project project, const std::string& name,
    const mcp::Confinement& sandbox);

// The same of `server`, which has a "sandbox" and is about to be in mcpac.json; says what it lists.
// The Error's fix says the ways out.
[[nodiscard]] Result<void> try_in_sandbox(const Context& context, const mcp::ServerConfig& server);

// Installs what a launcher of a confined server would download (servers/confine/server_packages.h),
// where it is not there, and says what. Nothing for servers that are none of these.
[[nodiscard]] Result<void> ensure_installed(const Context& context,
                                            const mcp::ServerConfig& server);

// The same where it is there already, to have what the package is now.
[[nodiscard]] Result<void> install_packages(const Context& context, const mcp::ServerConfig& server,
                                            const servers::PackageRun& run,
                                            servers::InstallScripts scripts);

// Notes on servers whose paths rules test, and which no sandbox holds: a line each, some eight at
// most.
[[nodiscard]] std::vector<std::string> notes_on_unconfined(const project::Project& held);

// Both, for an entry: its "sandbox" is set where that works.
[[nodiscard]] Result<void> confine_entry(const Context& context, const std::string& name,
                                         OrderedJson& entry, const std::vector<std::string>& files);

}  // namespace mcpac::cli
