// Manifest: a file in which a server says what it needs (core/claims.h).
//
// `"manifest"` of its entry names it, from the folder of mcpac.json. Without that it is
// `mcpac-effects.json` or AgentBound's `agent-manifest.json`, in a folder from that of the server's
// script up to the one with its package.json or pyproject.toml. A file that is not there or cannot
// be read is no claim, and told where the entry names it.
#pragma once

#include <filesystem>

#include "mcp/server_config.h"

namespace mcpac::execute {

// Nothing where the server has none.
[[nodiscard]] Claims read_manifest_of(const mcp::ServerConfig& server,
                                      const std::filesystem::path& project_folder);

}  // namespace mcpac::execute
