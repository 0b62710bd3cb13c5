// SPDX-License-Identifier: Apache-2.0

#include "run/server_stamps.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/file_stamp.h"
#include "core/hash.h"
#include "mcp/stdio_transport.h"
#include "servers/confine/server_packages.h"

namespace mcpac::run {
namespace {

namespace fs = std::filesystem;

// Of a regular file; all else has none.
std::string stamp_text_of(const fs::path& file) {
  const auto stamp = stamp_of(file);
  return stamp && stamp->is_regular ? stamp->text() : "";
}

void add_text(std::string& into, std::string_view text) {
  into += fmt::format("{} {}\n", text.size(), text);
}

std::string words_of(const mcp::SpawnOptions& spawn) {
  std::string words;
  add_text(words, spawn.program);
  add_text(words, spawn.working_directory);
  for (const std::string& argument : spawn.arguments) add_text(words, argument);
  if (spawn.confined) {
    words += "sandbox\n";
    for (const std::string& place : spawn.confined->places) add_text(words, place);
  }
  words += "environment\n";
  for (const std::string& variable : spawn.environment) add_text(words, variable);
  return words;
}

}  // namespace

std::optional<std::string> stamp_of_server(const mcp::ServerConfig& server,
                                           const project::Folders& folders) {
  mcp::SecretValues secrets;
  const auto target = mcp::make_stdio_target(server, secrets);
  if (!target) return std::nullopt;
  const mcp::SpawnOptions& spawn = target->spawn;
  const fs::path folder = spawn.working_directory;
  const std::string program = stamp_text_of(folder / spawn.program);
  if (program.empty()) return std::nullopt;
  std::string stamp = fmt::format("{}\n{}\n", sha256_hex(words_of(spawn)), program);
  if (spawn.confined) {
    const auto run = servers::package_run_of(server);
    const auto installed = run && *run ? servers::installed_server(**run, folders)
                                       : std::optional<servers::InstalledServer>();
    if (installed) add_text(stamp, installed->program.native());
  }
  for (const std::string& argument : spawn.arguments) {
    // Where there is no such file, the line is empty, and another one once there is.
    stamp += fmt::format("{}\n", stamp_text_of(folder / argument));
    const auto equals = argument.find('=');
    if (argument.starts_with('-') && equals != std::string::npos)
      stamp += fmt::format("{}\n", stamp_text_of(folder / argument.substr(equals + 1)));
  }
  return stamp;
}

}  // namespace mcpac::run
