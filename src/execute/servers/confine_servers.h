// Confined servers: stdio servers with a "sandbox" in their entry, as children of a warden, with
// what their entry gives, what their program needs to run (launch_profile.h), and the least of a
// system. What is not given does not exist for them, however it is spelled (docs/adr/0057).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "execute/files/file_mounts.h"
#include "execute/project/folders.h"
#include "execute/project/project.h"
#include "execute/servers/launch_profile.h"
#include "execute/servers/server_network.h"
#include "execute/servers/server_places.h"
#include "mcp/child_process.h"
#include "sandbox/sandbox.h"

namespace mcpac::execute {

// Sets ServerConfig::confiner of each server that has a "sandbox", and Project::confined, from
// which each start takes what the rules give by then. Their warden is theirs alone, and starts with
// the first of them; it ends with the last that refers to it. `lowest`: the weakest tier that a
// person accepted by name; below B counts as B. Where the machine gives B, and that is accepted,
// they are started as tier_b.h says; an entry cannot accept it, as projects are written by others.
void confine_servers(Project& project, const Folders& folders,
                     sandbox::Tier lowest = sandbox::Tier::kA);

// The same entry for a process of its own, to which `rules` give places, and not what they give
// other processes of the server. Only of a server that confine_servers() has seen.
[[nodiscard]] mcp::ServerConfig with_rules(mcp::ServerConfig server,
                                           std::shared_ptr<ConfinedRules> rules);

// While it lives, connections of the confined servers among these that begin are recorded in `log`,
// which is a run's and borrowed. Those that are open at its end are ended; connections before and
// after have records of their own (server_network.h). Any thread.
class RecordedConnections {
 public:
  RecordedConnections(const mcp::Config& config, audit::Sink& log) : config_(config) {
    record_in(&log);
  }
  ~RecordedConnections() { record_in(nullptr); }
  RecordedConnections(const RecordedConnections&) = delete;
  RecordedConnections& operator=(const RecordedConnections&) = delete;

 private:
  void record_in(audit::Sink* log) const;
  const mcp::Config& config_;
};

// While it lives, `tell` hears what confined servers among these were refused of the network, in a
// sentence with what to write; on a thread of its own, also what was refused before.
class ToldRefusals {
 public:
  ToldRefusals(const mcp::Config& config, ServerConnections::Tell tell) : config_(config) {
    tell_to(std::move(tell));
  }
  ~ToldRefusals() { tell_to(nullptr); }
  ToldRefusals(const ToldRefusals&) = delete;
  ToldRefusals& operator=(const ToldRefusals&) = delete;

 private:
  void tell_to(ServerConnections::Tell tell) const;
  const mcp::Config& config_;
};

// Sandbox of such a server, for the warden. `options` are those of its start, expanded; `by_rules`
// is what the rules give beside its entry. The descriptors are not set. `written` gets its places
// as they are now, for new_protected_names(); their mounts are in the Spec.
[[nodiscard]] Result<sandbox::Spec> confined_spec(const Project& project, const Folders& folders,
                                                  const mcp::SpawnOptions& options,
                                                  const ServerPlaces& by_rules = {},
                                                  FileMounts* written = nullptr);

// Of this project: what no tree of a script holds (launch_profile.h).
[[nodiscard]] ForeignFolders foreign_folders(const Project& project, const Folders& folders);

// The folder that it starts in, without links, as those are not in the sandbox.
[[nodiscard]] Result<std::filesystem::path> start_of(const mcp::SpawnOptions& options);

// Homes of the user as servers know them, without links, none twice: first that of HOME, which
// servers without a sandbox get, then that of the system's record of users (home_of_user()), which
// "~/" means in rules and entries. What is refused of a home is refused of both. Of what is given
// in both under one name the first has it in the server's own home, as there the server looks.
[[nodiscard]] std::vector<std::filesystem::path> homes_of_servers();

// The home folder of a confined server, which is empty when it starts and gone with it.
inline constexpr const char* kConfinedHome = "/home/mcpac-server";

}  // namespace mcpac::execute
