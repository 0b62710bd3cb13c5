// SPDX-License-Identifier: Apache-2.0

// ServerStamps: the inputs of a server's start as one text; another text, another server.
#pragma once

#include <optional>
#include <string>

#include "mcp/server_config.h"
#include "project/folders.h"

namespace mcpac::run {

// Of a stdio server: its command line, folder and environment with every reference expanded, and
// how its program and the files among its arguments ("FILE" and "--option=FILE") lie on the disk.
// Holds secrets only as a digest. Nothing where the server could not be started so, or its program
// is no regular file: it cannot be recognised then as still the same. Of one that is confined also
// which installation of its package that is (server_packages.h).
[[nodiscard]] std::optional<std::string> stamp_of_server(const mcp::ServerConfig& server,
                                                         const project::Folders& folders = {});

}  // namespace mcpac::run
