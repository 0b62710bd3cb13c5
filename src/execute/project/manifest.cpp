#include "execute/project/manifest.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "core/file.h"
#include "core/printable.h"

namespace mcpac::execute {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

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

}  // namespace mcpac::execute
