// SPDX-License-Identifier: Apache-2.0

#include "project/clients/client_kind.h"

#include <algorithm>
#include <system_error>

#include "core/file.h"
#include "core/json_text.h"

namespace mcpac::project {
namespace {

namespace fs = std::filesystem;

struct Candidate {
  fs::path file;
  fs::path sign;  // whose being there says that the client is
};

// macOS keeps under Library what is in the configuration folder elsewhere.
std::vector<Candidate> candidates(const ClientKind& kind, const ClientPlaces& places) {
  const fs::path library = places.home / "Library" / "Application Support";
  const auto in = [](const fs::path& folder, const char* name) {
    return Candidate{folder / name, folder};
  };
  if (kind.id == "claude-desktop") {
    return {in(places.config / "Claude", "claude_desktop_config.json"),
            in(library / "Claude", "claude_desktop_config.json")};
  }
  if (kind.id == "claude-code") {
    if (!places.claude.empty()) return {in(places.claude, ".claude.json")};
    return {{places.home / ".claude.json", places.home / ".claude"}};
  }
  if (kind.id == "cursor") return {in(places.home / ".cursor", "mcp.json")};
  if (kind.id == "vscode") {
    std::vector<Candidate> all;
    for (const char* name : {"Code", "Code - Insiders"}) {
      all.push_back(in(places.config / name / "User", "mcp.json"));
      all.push_back(in(library / name / "User", "mcp.json"));
    }
    return all;
  }
  if (kind.id == "codex")
    return {in(places.codex.empty() ? places.home / ".codex" : places.codex, "config.toml")};
  if (kind.id == "zed") return {in(places.config / "zed", "settings.json")};
  return {in(places.home / ".gemini", "settings.json")};
}

// Comments and commas at the end as editors write them; null where it cannot be read.
OrderedJson json_in(const fs::path& file) {
  constexpr std::size_t kLargest = std::size_t{1} << 20U;
  auto text = read_file(file, kLargest);
  auto json = text ? JsonText::parse(std::move(*text), file.string())
                   : Result<JsonText>(std::unexpected(text.error()));
  return json ? json->value() : OrderedJson();
}

// Those of Claude Desktop are servers, all of them; a person may have switched one off.
void add_desktop_extensions(const fs::path& folder, std::vector<ClientExtension>& found) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder / "Claude Extensions", error)) {
    const auto manifest = entry.path() / "manifest.json";
    if (!fs::exists(manifest, error)) continue;
    const auto id = entry.path().filename().string();
    const auto settings = json_in(folder / "Claude Extensions Settings" / (id + ".json"));
    if (settings.is_object() && settings.contains("isEnabled") && settings["isEnabled"] == false)
      continue;
    const auto said = json_in(manifest);
    const bool is_named = said.is_object() && said.contains("name") && said["name"].is_string();
    found.push_back({is_named ? said["name"].get<std::string>() : id, manifest});
  }
}

void add_gemini_extensions(const fs::path& folder, std::vector<ClientExtension>& found) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const auto manifest = entry.path() / "gemini-extension.json";
    if (!fs::exists(manifest, error)) continue;
    const auto said = json_in(manifest);
    const bool has_none =
        said.is_object() && (!said.contains("mcpServers") || said["mcpServers"].empty());
    if (!has_none) found.push_back({entry.path().filename().string(), manifest});
  }
}

}  // namespace

const std::vector<ClientKind>& client_kinds() {
  static const std::vector<ClientKind> kinds{
      {.id = "claude-desktop", .title = "Claude Desktop"},
      {.id = "claude-code",
       .title = "Claude Code",
       .variables = Variables::kBraces,
       .says_type = true,
       .says_milliseconds = true},
      {.id = "cursor", .title = "Cursor", .variables = Variables::kEnv},
      {.id = "vscode",
       .title = "VS Code",
       .servers = "servers",
       .variables = Variables::kEnv,
       .says_type = true},
      {.id = "codex",
       .title = "Codex",
       .format = ClientKind::Format::kToml,
       .servers = "mcp_servers",
       .variables = Variables::kForwarded},
      {.id = "gemini",
       .title = "Gemini CLI",
       .variables = Variables::kDollar,
       .says_milliseconds = true},
      {.id = "zed", .title = "Zed", .servers = "context_servers"},
  };
  return kinds;
}

const ClientKind* find_client_kind(std::string_view id) {
  const auto found = std::ranges::find(client_kinds(), id, &ClientKind::id);
  return found == client_kinds().end() ? nullptr : &*found;
}

std::vector<OtherFile> other_files(const ClientKind& kind, const ClientPlaces& places,
                                   const fs::path& project) {
  std::vector<OtherFile> files;
  const auto all = candidates(kind, places);
  for (const Candidate& one : all) files.push_back({one.file});
  if (kind.id == "claude-code") files.push_back({project / ".mcp.json"});
  if (kind.id == "cursor") files.push_back({project / ".cursor" / "mcp.json"});
  if (kind.id == "codex") files.push_back({project / ".codex" / "config.toml"});
  if (kind.id == "gemini") files.push_back({project / ".gemini" / "settings.json"});
  if (kind.id == "zed") files.push_back({project / ".zed" / "settings.json"});
  if (kind.id != "vscode") return files;
  // Its settings had them before mcp.json did, and are read still.
  files.push_back({project / ".vscode" / "mcp.json"});
  files.push_back({project / ".vscode" / "settings.json", {"mcp", "servers"}});
  for (const Candidate& one : all)
    files.push_back({one.file.parent_path() / "settings.json", {"mcp", "servers"}});
  return files;
}

std::vector<ClientExtension> extensions_of(const ClientKind& kind, const ClientPlaces& places) {
  std::vector<ClientExtension> found;
  if (kind.id == "claude-desktop") {
    for (const Candidate& one : candidates(kind, places)) add_desktop_extensions(one.sign, found);
  }
  if (kind.id == "gemini") add_gemini_extensions(places.home / ".gemini" / "extensions", found);
  std::ranges::sort(found, {}, &ClientExtension::file);
  return found;
}

ClientPlace place_of(const ClientKind& kind, const ClientPlaces& places) {
  const auto all = candidates(kind, places);
  std::error_code error;
  for (const Candidate& one : all) {
    if (fs::exists(one.file, error) || fs::exists(one.sign, error)) return {one.file, true};
  }
  return {all.front().file, false};
}

}  // namespace mcpac::project
