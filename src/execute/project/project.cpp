#include "execute/project/project.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <system_error>

#include "core/file.h"
#include "core/shell_quote.h"
#include "execute/project/implied.h"
#include "execute/project/manifest.h"

namespace mcpac::execute {

bool is_absent(const std::filesystem::path& file) {
  std::error_code error;
  return std::filesystem::symlink_status(file, error).type() ==
         std::filesystem::file_type::not_found;
}

namespace {

// Who stands in a folder of a project wants that one, and not a second one inside of it.
std::string project_above(const std::filesystem::path& config_file) {
  std::error_code error;
  const auto here = std::filesystem::absolute(config_file, error).parent_path();
  for (auto folder = here.parent_path(); !error && folder != folder.parent_path();
       folder = folder.parent_path()) {
    if (!is_absent(folder / config_file.filename()))
      return fmt::format("`mcpac -C {} …`: there is one", shell_quoted(folder.string()));
  }
  return "run `mcpac init`, or name another file with --config FILE";
}

}  // namespace

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

}  // namespace mcpac::execute
