// SPDX-License-Identifier: Apache-2.0

// Server root: the folders that a local server may count relative paths from, and what to tell the
// user where these are several and none was chosen (docs/grants.md).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/lock.h"
#include "mcp/server_config.h"
#include "project/project.h"

namespace mcpac::run {

struct ServerFolders {
  std::string starts_in;  // absolute; the current directory where no "cwd" is given
  std::string root;       // absolute; empty: none is declared, and no "cwd" stands for it
  // Existing folders that its command, its arguments and its environment name, absolute, without
  // doubles: as they are, behind '=' and options, in lists, in JSON and in what a shell is told to
  // run. Not the root (or, without one, where it starts) by any name; of the environment not what
  // is for programs (PATH, HOME, caches).
  std::vector<std::string> given;
  // Folders (and files) that a container was given, by its names for them: absolute, both.
  std::map<std::string, std::string> mounts;
  // How it is started where nothing says from which folder, "in a container"; empty: it is known,
  // or a root is declared.
  std::string unknown;
};
// Looks at the disk. `project_folder`: that of mcpac.json. Of a server over HTTP nothing is known
// but its root.
[[nodiscard]] ServerFolders folders_of(const mcp::ServerConfig& server,
                                       const std::filesystem::path& project_folder);

// Lines about servers that are started, in the order of the configuration: for which it matters
// that they have no root, with what sets it; and whose container has other names for folders.
[[nodiscard]] std::vector<std::string> servers_without_root(const project::Project& project);

// A root to declare: an error where it is no folder of this machine, else a warning where the
// server was not given it; empty where it is one that the server counts from.
[[nodiscard]] Result<std::string> check_root(const mcp::ServerConfig& server,
                                             const std::string& root,
                                             const std::filesystem::path& project_folder);

// Of each server, a line that names its tools which seem to act on one entry alone, and with which
// to say so. A proposal by what tools are called: nothing rests on it before the user says yes.
[[nodiscard]] std::vector<std::string> proposed_entry_only(const project::Project& project,
                                                           const codegen::Lock& lock);

}  // namespace mcpac::run
