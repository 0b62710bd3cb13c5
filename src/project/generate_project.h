// SPDX-License-Identifier: Apache-2.0

// generate: writes servers/ and mcpac.lock of a project from the offers of its servers.
//
// A locked tool keeps its approved definition, also when its server changes or withdraws it: a tool
// that went and came back as another would else be approved in two steps. The first generate of a
// server proposes all of its tools; what it gains later is listed and left to review.h, for a rule
// with a wildcard that a user wrote yesterday would cover it (ADR 0054).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/generate.h"
#include "core/error.h"
#include "project/project.h"

namespace mcpac::project {

struct GenerateReport {
  codegen::Output output;
  std::vector<std::string> written;  // paths below the project that changed
  std::vector<std::string> removed;  // files of servers that are gone
  std::vector<std::string> drifted;  // locked tools whose definition is another now: kept as locked
  std::vector<std::string> reworded;       // of these, such as differ in texts alone
  std::vector<std::string> withdrawn;      // locked tools that their server no longer offers: kept
  std::vector<std::string> other_servers;  // another command or URL than the lock approved: kept
  std::vector<std::string> added;          // tools that are new in the lock
  std::vector<ToolDefinition> pending;     // tools that locked servers gained, named "server.tool"
};

// A person's approvals, by "server" and "server.tool".
struct Approval {
  std::set<std::string> names{};
  bool adds_servers = false;  // a server that is not locked yet comes in, with all of its tools
  bool adds_tools = false;    // so does a tool that a locked server gained
  [[nodiscard]] bool covers(const std::string& server) const { return names.contains(server); }
  [[nodiscard]] bool covers(const std::string& server, const std::string& tool) const {
    return covers(server) || names.contains(server + "." + tool);
  }
};

// The lock's text and its meaning; both empty where there is none yet.
struct LockFile {
  std::string text;
  codegen::Lock lock;
};
[[nodiscard]] Result<LockFile> read_lock_file(const Project& project);

// Treatment of tools that locked servers gained.
enum class NewTools : std::uint8_t { kWait, kAccept };

// Adds what is new. Writes what changed, each file whole and mcpac.lock last. kLockBusy where
// another process writes and does not end (project_turn.h).
[[nodiscard]] Result<GenerateReport> write_project(const Project& project, const Folders& folders,
                                                   std::vector<ServerListing> listings,
                                                   NewTools gained = NewTools::kWait);
// servers/ again from mcpac.lock alone; no server is asked. The same lock gives the same bytes.
[[nodiscard]] Result<GenerateReport> write_from_lock(const Project& project,
                                                     const Folders& folders);

// After a command of the user's own wrote the entry of a locked server: where that starts the same
// program and gives it no more than was approved, the lock has the entry from now on, and giving
// back what was taken is drift. Asks no server and changes no header. Whether it wrote.
[[nodiscard]] Result<bool> keep_narrower_entry(const Project& project, const Folders& folders,
                                               const std::string& server);

// The common part; its caller holds the ProjectTurn. `listings` are what servers offer; a
// server of the lock that has none there stays as it is locked, unless it is in `gone`.
[[nodiscard]] Result<GenerateReport> merge_and_write(const Project& project, const LockFile& before,
                                                     std::vector<ServerListing> listings,
                                                     const Approval& approval,
                                                     const std::set<std::string>& gone);

// codegen::notes_on_use(), and of confined servers which tools are withheld or degraded.
[[nodiscard]] std::vector<codegen::Note> notes_of_lock(const Project& project,
                                                       const codegen::Lock& lock);

// Servers of the lock that mcpac.json does not name any more.
[[nodiscard]] std::set<std::string> servers_gone(const Project& project, const codegen::Lock& lock);

}  // namespace mcpac::project
