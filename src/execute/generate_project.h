// generate: real servers in, servers/ and mcpac.lock of a project out.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/generate.h"
#include "core/error.h"
#include "execute/project.h"

namespace mcpac::execute {

struct ServerProgress {
  std::string server;
  enum class State : std::uint8_t { kConnecting, kListed, kFailed } state = State::kConnecting;
  std::size_t tools = 0;
  Error error;  // when kFailed
};

struct GenerateReport {
  codegen::Output output;
  std::vector<std::string> written;  // paths below the project that changed
  std::vector<std::string> removed;  // files of servers that are gone
  std::vector<std::string> drifted;  // locked tools whose definition is another now: kept as locked
  std::vector<std::string> withdrawn;  // locked tools that their server no longer offers: kept
  std::vector<std::string> added;      // tools that are new in the lock
};

// Connects to every enabled server at the same time. `progress` is called on this thread. One
// server that fails makes the whole fail, and the files stay as they were.
[[nodiscard]] Result<std::vector<ServerListing>> list_servers(
    const std::vector<mcp::ServerConfig>& servers,
    const std::function<void(const ServerProgress&)>& progress);

// Writes what changed, each file atomically and mcpac.lock last. `accepted` names servers
// ("github") and tools
// ("github.create_issue") whose changes are approved.
[[nodiscard]] Result<GenerateReport> write_project(const Project& project,
                                                   std::vector<ServerListing> listings,
                                                   const std::vector<std::string>& accepted = {});

}  // namespace mcpac::execute
