// SPDX-License-Identifier: Apache-2.0

// Server packages: a launcher that downloads what it runs (npx, uvx), in two steps.
//
// `npx -y @scope/server ./data` is an install with network, into a folder of mcpac's cache that is
// named by what is installed, and a run of the installed program without network, in the sandbox.
// The first is a command of a person (`mcpac server install`, `server add --confine`, `generate`,
// `server test`); a run takes only what is there, and never another version in silence.
//
// Packages of npm are installed by npm, whichever launcher names them, and without install scripts:
// those are programs with all that the user has. So are packages of Python without building any.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "mcp/child_process.h"
#include "mcp/server_config.h"
#include "project/folders.h"
#include "servers/confine/package_run.h"

namespace mcpac::servers {

// Programs of packages with native code are often made by scripts at their installation.
enum class InstallScripts : std::uint8_t { kLeftOut, kRun };

struct InstalledServer {
  std::filesystem::path folder;
  std::filesystem::path program;                // in it
  std::map<std::string, std::string> versions;  // of the packages that were asked for
  std::vector<std::string> left_out;            // packages with scripts that did not run
  InstallScripts scripts = InstallScripts::kLeftOut;

  // "@scope/server 1.2.3"
  [[nodiscard]] std::string text() const;
};

// The installed package; nothing where it is absent or incomplete.
[[nodiscard]] std::optional<InstalledServer> installed_server(const PackageRun& run,
                                                              const project::Folders& folders);

// Installs what the packages of `run` are now, in place of what was there. That stays until the
// next time, for servers that run of it. Blocks until the installer ends, some minutes at most.
// `server`: whose variables about registries the installer gets. kServerStart: the installer is
// missing or fails, with what it said; a package without a program, or with several and no main
// one.
[[nodiscard]] Result<InstalledServer> install_server(const PackageRun& run,
                                                     const mcp::ServerConfig& server,
                                                     const project::Folders& folders,
                                                     InstallScripts scripts);

// `server`, whose launcher would run `run`, as one that starts the installed program itself. Its
// references stay, as does what else is in its entry.
[[nodiscard]] mcp::ServerConfig as_installed(mcp::ServerConfig server, const PackageRun& run,
                                             const InstalledServer& installed);

// Start of a confined server: `options` themselves, or the installed program of a launcher.
struct ServerStart {
  mcp::SpawnOptions options;
  std::vector<std::filesystem::path> trees{};     // of the installation
  std::vector<std::filesystem::path> programs{};  // that it is run by, outside of these
};
// kServerStart with the command that installs it, where it is not there.
[[nodiscard]] Result<ServerStart> server_start(const mcp::SpawnOptions& options,
                                               const project::Folders& folders);

}  // namespace mcpac::servers
