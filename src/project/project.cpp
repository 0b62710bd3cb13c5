// SPDX-License-Identifier: Apache-2.0

#include "project/project.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/file.h"
#include "core/printable.h"
#include "core/shell_quote.h"
#include "project/implied.h"

namespace mcpac::project {

bool is_absent(const std::filesystem::path& file) {
  std::error_code error;
  return std::filesystem::symlink_status(file, error).type() ==
         std::filesystem::file_type::not_found;
}

namespace {

namespace fs = std::filesystem;

// A user in a folder of a project wants that one, and not a second one inside of it.
std::string project_above(const std::filesystem::path& config_file) {
  const auto above = config_above(config_file);
  return above.empty() ? "run `mcpac init`, or name another file with --config FILE"
                       : fmt::format("`mcpac -C {} …`: there is one",
                                     shell_quoted(above.parent_path().string()));
}

// ---- Manifest: a file in which a server says what it needs (core/claims.h)
//
// `"manifest"` of its entry names it, from the folder of mcpac.json. Without that it is
// `mcpac-effects.json` or AgentBound's `agent-manifest.json`, in a folder from that of the server's
// script up to the one with its package.json or pyproject.toml. A file that is not there or cannot
// be read is no claim, and told where the entry names it.

constexpr std::array kNamesOfManifest = {"mcpac-effects.json", "agent-manifest.json"};
constexpr std::array kMarksOfPackage = {"package.json", "pyproject.toml"};

// The first of its words that is a file, and lies outside of /usr; by its real path.
std::optional<fs::path> script_of(const mcp::ServerConfig& server) {
  std::error_code error;
  const fs::path start = fs::current_path(error) / server.working_directory;
  const auto file_at = [&](const std::string& word) -> std::optional<fs::path> {
    if (!word.contains('/') && !word.contains('.')) return std::nullopt;
    if (word.starts_with('-') || word.contains("${")) return std::nullopt;
    const fs::path path = start / word;
    if (!fs::is_regular_file(path, error)) return std::nullopt;
    fs::path real = fs::canonical(path, error);
    if (error || real.native().starts_with("/usr/")) return std::nullopt;
    return real;
  };
  for (const std::string& word : server.arguments) {
    if (auto found = file_at(word)) return found;
  }
  return server.command.contains('/') ? file_at(server.command) : std::nullopt;
}

std::optional<fs::path> manifest_beside(const fs::path& script) {
  constexpr int kMostLevels = 16;
  std::error_code error;
  const auto has = [&](const fs::path& folder, const char* name) {
    return fs::is_regular_file(folder / name, error);
  };
  const auto in = [&](const fs::path& folder) -> std::optional<fs::path> {
    for (const char* name : kNamesOfManifest) {
      if (has(folder, name)) return folder / name;
    }
    return std::nullopt;
  };
  const fs::path own = script.parent_path();
  std::optional<fs::path> found;
  fs::path folder = own;
  for (int level = 0; level < kMostLevels && folder != folder.root_path(); ++level) {
    if (!found) found = in(folder);
    for (const char* mark : kMarksOfPackage) {
      if (has(folder, mark)) return found;
    }
    folder = folder.parent_path();
  }
  return in(own);  // of no package
}

Claims read_manifest_of(const mcp::ServerConfig& server, const fs::path& project_folder) {
  std::optional<fs::path> file;
  if (!server.manifest.empty()) {
    file = project_folder / server.manifest;
  } else if (!server.is_http()) {
    if (const auto script = script_of(server)) file = manifest_beside(*script);
  }
  if (!file) return {};
  Claims none;
  std::error_code error;
  // Opening a pipe would wait for its other end.
  if (!fs::is_regular_file(*file, error)) {
    none.dropped.push_back(
        fmt::format("its \"manifest\" is left out: {} is no file", printable(file->string(), 200)));
    return none;
  }
  const auto text = read_file(*file, kMaxManifestBytes);
  if (text) return read_manifest(*text);
  none.dropped.push_back(fmt::format("its manifest is left out: {}", printable(text.error().what)));
  return none;
}

}  // namespace

std::filesystem::path config_above(const std::filesystem::path& config_file) {
  std::error_code error;
  const auto here = std::filesystem::absolute(config_file, error).parent_path();
  for (auto folder = here.parent_path(); !error && folder != folder.parent_path();
       folder = folder.parent_path()) {
    if (!is_absent(folder / config_file.filename())) return folder / config_file.filename();
  }
  return {};
}

codegen::ServerChecks server_checks_of(const mcp::Config& config) {
  return [&config](std::string_view server, std::string_view tool) {
    const auto* found = config.find(server);
    return found != nullptr && std::ranges::count(found->server_checks, tool) > 0;
  };
}

Result<Project> load_project(const std::filesystem::path& config_file, const Folders& folders) {
  if (is_absent(config_file)) {
    return fail(ErrorId::kConfigMissing, fmt::format("there is no {}", config_file.string()),
                {.where = config_file.string(),
                 .why = "mcpac.json names the MCP servers of a project",
                 .fix = project_above(config_file)});
  }
  auto text = read_file(config_file);
  if (!text) return pass_on(text);
  auto config = mcp::parse_config(*text, config_file.string());
  if (!config) return pass_on(config);
  return project_of(std::move(*config), config_file, folders);
}

Project project_of(mcp::Config config, const std::filesystem::path& config_file,
                   const Folders& folders) {
  Project project;
  std::error_code error;
  project.config_file = std::filesystem::absolute(config_file, error);
  project.folder = project.config_file.parent_path();
  project.config = std::move(config);
  for (auto& server : project.config.servers) {
    server.tokens = folders.state / "logins";
    server.found = folders.cache / "servers";
    server.keeper = folders.keeper();
    server.file = project.config_file;
    server.claims = read_manifest_of(server, project.folder);
  }
  return project;
}

Result<codegen::Lock> load_lock(const Project& project) {
  if (const auto* implied = implied_output(project)) return implied->lock;
  auto text = read_lock_text(project);
  if (!text) return pass_on(text);
  return codegen::parse_lock(*text, project.lock_file().string());
}

Result<std::string> read_lock_text(const Project& project) {
  const auto file = project.lock_file();
  if (is_absent(file)) {
    return fail(ErrorId::kLockMissing, fmt::format("there is no {}", file.string()),
                {.where = file.string(),
                 .why = "a tool that is not in the lock cannot be called",
                 .fix = "run `mcpac generate`, look at what it found, and commit mcpac.lock"});
  }
  return read_file(file, codegen::kMaxLockBytes);
}

}  // namespace mcpac::project
