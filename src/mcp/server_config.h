// SPDX-License-Identifier: Apache-2.0

// ServerConfig: one entry of "mcpServers" in mcpac.json, the format that other MCP clients use.
//
// Values keep `${env:NAME}` and `${file:PATH}` unexpanded; only SecretValues (at start or call)
// expands them, on the host, and knows what to redact.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/claims.h"
#include "core/error.h"
#include "core/json.h"
#include "core/quantity.h"
#include "mcp/oauth/settings.h"

namespace mcpac::mcp {

enum class Era : std::uint8_t {
  kProbe,
  kInitialize,
  kStateless
};  // "era": "initialize" | "2026-07-28"

// "texts": what a title or a description that is not the locked one is. kStrict: another tool, as a
// schema that is not the locked one. kLocked: nothing; the locked one is shown.
enum class Texts : std::uint8_t { kStrict, kLocked };

class Confiner;  // mcp/child_process.h
class Observer;

// "share": for whom a process of the server works in a gateway (mcpac serve). kAll: for all clients
// together. kClient: each client has one to itself, with the places of its own rules.
enum class Share : std::uint8_t { kAll, kClient };

// "sandbox": what a server that we start may reach, held by the kernel (docs/configuration.md). Its
// program, what that needs of the system and folders of its own it has in any case.
struct Confinement {
  // "PATH", "PATH:ro" or "PATH:rw"; relative ones are from the folder of mcpac.json.
  std::vector<std::string> files;
  // "HOST:PORT" or "any", as `network` rules name them (docs/grants.md).
  std::vector<std::string> network = {};
  std::uint64_t memory = 0;  // bytes that all its processes may have together; 0: no limit
  Share share = Share::kAll;
  friend bool operator==(const Confinement&, const Confinement&) = default;
};

struct ServerConfig {
  std::string name;
  // stdio: a program with arguments; no shell is involved.
  std::string command;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;
  std::string working_directory;
  // HTTP, when `url` is not empty.
  std::string url;
  std::map<std::string, std::string> headers;

  std::string manifest;  // "manifest": a file with its claims; from the folder of mcpac.json
  std::optional<Confinement> sandbox;         // of a program; nothing: it has all that its user has
  std::chrono::milliseconds timeout{60'000};  // of one request, and of a whole list
  std::string root;                           // the folder that the server's relative paths mean
  // "entry_only": tools that act on the one entry which a path names, and on nothing below it; by
  // the user's word, for rules about folders above a denied place (docs/grants.md).
  std::vector<std::string> entry_only;
  // "server_checks": tools with patterns that mcpac cannot check (core/json_schema.h) and their
  // server does, by the user's word.
  std::vector<std::string> server_checks;
  bool disabled = false;
  Texts texts = Texts::kStrict;
  // "prices": what one call of a tool costs the user, for rules with a `cost` (docs/grants.md).
  std::map<std::string, Money> prices;
  Era era = Era::kProbe;
  oauth::Settings auth;  // "auth": how to log in, where the server wants that (HTTP alone)

  // Not in the file: how patient we are ourselves.
  std::chrono::milliseconds probe_timeout{
      3'000};  // for an answer to server/discover; then initialize
  std::chrono::milliseconds shutdown_grace{2'000};  // on each step of the shutdown ladder
  std::filesystem::path keeper;  // mcpac-keeper; empty: what leaves its group stays
  // Starts it where `sandbox` is set; a server with that and without this is not started at all.
  std::shared_ptr<const Confiner> confiner;
  std::shared_ptr<const Observer> observer;      // of one that is learnt about; or null
  std::chrono::milliseconds slow_start{10'000};  // until a start that takes long is told
  std::filesystem::path found;   // folder of what servers were found to be (Finding), or empty
  std::filesystem::path tokens;  // folder of what logins left; empty keeps it in memory
  std::filesystem::path file;    // the mcpac.json whose entry it is; empty where it is none's
  Claims claims;                 // what its manifest says that it needs (project/project.cpp)

  [[nodiscard]] bool is_http() const { return !url.empty(); }
  // Command line or URL with secrets unexpanded: what the lock calls the server's identity.
  [[nodiscard]] std::string identity() const;
  // What else the lock keeps of it (codegen/lock_entry.h): folder, variables, headers, sandbox.
  // References stay unexpanded; a value that may be a secret is there as a digest.
  [[nodiscard]] OrderedJson entry() const;
};

struct Config {
  std::vector<ServerConfig> servers;  // sorted by name
  [[nodiscard]] const ServerConfig* find(std::string_view name) const;
};

// Something that was found of a server, kept for later commands: that it speaks `initialize`, where
// finding that out cost something; that a text about it was shown.
//
// One empty file a finding, in the cache. Its name is a digest of the whole entry, of the file that
// it stands in and of `what`, so a changed entry is asked anew; after 30 days any is. Nothing but
// the order of questions and the number of warnings follows from it: what cannot be read or written
// counts as not found.
class Finding {
 public:
  // Nothing is known or kept where `config.found` is empty.
  Finding(const ServerConfig& config, std::string_view what);
  [[nodiscard]] bool is_kept() const;
  void keep() const;
  void forget() const;

 private:
  std::filesystem::path file_;
};

// `where` is the file's name. Unknown members of a server are errors with a suggestion; unknown
// top-level members beside "mcpServers" are left alone, since other clients keep theirs there.
[[nodiscard]] Result<Config> parse_config(std::string_view text, std::string_view where);
[[nodiscard]] OrderedJson to_json(const ServerConfig& server);

}  // namespace mcpac::mcp
