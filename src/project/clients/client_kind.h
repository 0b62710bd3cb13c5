// SPDX-License-Identifier: Apache-2.0

// ClientKind: the MCP clients whose configuration mcpac can write: where it lies, and how an entry
// looks there. As their makers documented it in 2026:
//
//   Claude Desktop  claude_desktop_config.json
//   modelcontextprotocol.io/docs/develop/connect-local-servers Claude Code     ~/.claude.json, user
//   scope   code.claude.com/docs/en/mcp Cursor          ~/.cursor/mcp.json cursor.com/docs/mcp VS
//   Code         mcp.json of the user profile
//   code.visualstudio.com/docs/copilot/reference/mcp-configuration Codex ~/.codex/config.toml
//   developers.openai.com/codex/mcp Gemini CLI      ~/.gemini/settings.json
//   geminicli.com/docs/tools/mcp-server Zed             ~/.config/zed/settings.json
//   zed.dev/docs/ai/mcp
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mcpac::project {

// Syntax of the client for a variable of its environment in an entry.
enum class Variables {
  kNone,       // it has no such thing
  kEnv,        // ${env:NAME}
  kBraces,     // ${NAME}, with a default ${NAME:-…}
  kDollar,     // $NAME or ${NAME}
  kForwarded,  // env_vars = ["NAME"]: the server gets it under the same name
  kAny,        // a file of an unknown client: ${NAME}, ${env:NAME}, $NAME
};

struct ClientKind {
  enum class Format { kJson, kToml };
  std::string_view id;     // as the command line names it
  std::string_view title;  // as its maker does
  Format format = Format::kJson;
  std::string_view servers = "mcpServers";  // the member that holds the entries
  Variables variables = Variables::kNone;
  bool says_type = false;          // entries have "type": "stdio"
  bool says_milliseconds = false;  // its "timeout"
};

[[nodiscard]] const std::vector<ClientKind>& client_kinds();
// Null: there is none of this id.
[[nodiscard]] const ClientKind* find_client_kind(std::string_view id);

// Variables that say where configurations lie.
struct ClientPlaces {
  std::filesystem::path home;
  std::filesystem::path config;    // $XDG_CONFIG_HOME, or ~/.config
  std::filesystem::path codex{};   // $CODEX_HOME
  std::filesystem::path claude{};  // $CLAUDE_CONFIG_DIR
};

struct ClientPlace {
  std::filesystem::path file;
  bool is_found = false;  // the client was here: its file or its folder is there
};
[[nodiscard]] ClientPlace place_of(const ClientKind& kind, const ClientPlaces& places);

// Where else this client may have servers: the other places of the kind, and its files in a
// project.
struct OtherFile {
  std::filesystem::path file;
  // The members that lead to the entries; empty: the one that the kind has.
  std::vector<std::string_view> table{};
};
[[nodiscard]] std::vector<OtherFile> other_files(const ClientKind& kind, const ClientPlaces& places,
                                                 const std::filesystem::path& project);

// Extensions of the client that start servers by themselves, and are not switched off: archives
// that it unpacked (.mcpb, .dxt of Claude Desktop), folders of Gemini CLI. By their names, with the
// file that says so. What cannot be read counts as one that does.
struct ClientExtension {
  std::string name;
  std::filesystem::path file;
};
[[nodiscard]] std::vector<ClientExtension> extensions_of(const ClientKind& kind,
                                                         const ClientPlaces& places);

}  // namespace mcpac::project
