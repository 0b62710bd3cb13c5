// Server root: the folders that a local server may count relative paths from, and what to tell the
// user where these are several and nobody said which is meant (docs/grants.md).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "codegen/lock.h"
#include "execute/project/project.h"
#include "mcp/server_config.h"

namespace mcpac::execute {

struct ServerFolders {
  std::string starts_in;  // absolute; the current directory where no "cwd" is given
  std::string root;       // absolute; empty: none is declared, and no "cwd" stands for it
  // Existing folders that stand among the arguments of its command, absolute, without doubles: as
  // they are, behind '=', and in lists. Not the root (or, without one, where it starts) by any
  // name.
  std::vector<std::string> given;
};
// Looks at the disk. `project_folder`: that of mcpac.json. Of a server over HTTP nothing is known
// but its root.
[[nodiscard]] ServerFolders folders_of(const mcp::ServerConfig& server,
                                       const std::filesystem::path& project_folder);

// A server for which it matters that it has no root, with one line that says so and sets it;
// `lines` only for servers that are started, in the order of the configuration.
[[nodiscard]] std::vector<std::string> servers_without_root(const Project& project);

// Of each server, a line that names its tools which seem to act on one entry alone, and with which
// to say so. A proposal by what tools are called: nothing rests on it before the user says yes.
[[nodiscard]] std::vector<std::string> proposed_entry_only(const Project& project,
                                                           const codegen::Lock& lock);

}  // namespace mcpac::execute
