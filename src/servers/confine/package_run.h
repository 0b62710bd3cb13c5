// SPDX-License-Identifier: Apache-2.0

// Package runs: the package that a downloading launcher (npx, uvx) would install and start, by its
// arguments.
//
// By a table of launchers, as their documentation has them. Nothing is asked and nothing is started
// here. What the table does not have is refused, for it might change what is installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "mcp/server_config.h"

namespace mcpac::servers {

// The command line of a launcher taken apart.
struct PackageRun {
  enum class Installer : std::uint8_t { kNpm, kUv, kPipx };
  Installer installer = Installer::kNpm;
  std::string launcher;               // "npx", "uv tool run"
  std::vector<std::string> packages;  // with their versions; of the first the program is run
  std::string program;                // of it; empty: which one is the package's to say
  std::vector<std::string> options;   // that say what is installed, for the installer
  // Variables of the entry that say where from, and through which proxies, "NAME=value", sorted:
  // the same name is another package in another registry.
  std::vector<std::string> sources;
  std::size_t first_own = 0;  // LaunchProfile::first_own

  // "@scope/server@1.2, other"
  [[nodiscard]] std::string text() const;
};

// `words`: argv; sources are not set. Nothing: no launcher that downloads, or no command of it that
// runs a package (`uv run`, `npm start`). kServerStart where mcpac does not know what would be
// installed: an option, a package that is no name of a registry, a shell's command.
[[nodiscard]] Result<std::optional<PackageRun>> package_run_of(std::span<const std::string> words);
// Of an entry, with its references expanded.
[[nodiscard]] Result<std::optional<PackageRun>> package_run_of(const mcp::ServerConfig& server);

// "@scope/name" of "@scope/name@1.2".
[[nodiscard]] std::string npm_name(const std::string& package);
// "mcp-server" of "mcp_server[cli]==1.2": lower case, "-" between words.
[[nodiscard]] std::string python_name(std::string_view package);
// A variable that an installer gets of an entry's: those that name registries, proxies and the
// words to log in there. No other, and no PATH: the installer runs with all that its user has, so
// which one it is its user's own PATH says; and the installation is shared by all entries of the
// package.
[[nodiscard]] bool is_of_installer(std::string_view variable);
// Of "NAME=value" those that say where packages come from (PackageRun::sources).
[[nodiscard]] std::vector<std::string> sources_of(std::span<const std::string> variables);

// kServerStart.
[[nodiscard]] std::unexpected<Error> refuse_packages(std::string what, std::string why,
                                                     std::string fix);
inline constexpr const char* kInstallYourself =
    "install the server yourself, and write the program that is started then, as \"command\": "
    "\"node\", \"args\": [\"node_modules/NAME/dist/index.js\"], or that of a venv";

}  // namespace mcpac::servers
