#include "execute/clients/client_kind.h"

#include <algorithm>
#include <system_error>

namespace mcpac::execute {
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
  return {in(places.home / ".gemini", "settings.json")};
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
  };
  return kinds;
}

const ClientKind* find_client_kind(std::string_view id) {
  const auto found = std::ranges::find(client_kinds(), id, &ClientKind::id);
  return found == client_kinds().end() ? nullptr : &*found;
}

std::vector<fs::path> other_files(const ClientKind& kind, const ClientPlaces& places,
                                  const fs::path& project) {
  std::vector<fs::path> files;
  for (const Candidate& one : candidates(kind, places)) files.push_back(one.file);
  if (kind.id == "claude-code") files.push_back(project / ".mcp.json");
  if (kind.id == "cursor") files.push_back(project / ".cursor" / "mcp.json");
  if (kind.id == "vscode") files.push_back(project / ".vscode" / "mcp.json");
  if (kind.id == "codex") files.push_back(project / ".codex" / "config.toml");
  if (kind.id == "gemini") files.push_back(project / ".gemini" / "settings.json");
  return files;
}

ClientPlace place_of(const ClientKind& kind, const ClientPlaces& places) {
  const auto all = candidates(kind, places);
  std::error_code error;
  for (const Candidate& one : all) {
    if (fs::exists(one.file, error) || fs::exists(one.sign, error)) return {one.file, true};
  }
  return {all.front().file, false};
}

}  // namespace mcpac::execute
