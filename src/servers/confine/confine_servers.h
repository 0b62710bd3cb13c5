// SPDX-License-Identifier: Apache-2.0

// Confined servers: stdio servers with a "sandbox" in their entry, as children of a warden, with
// what their entry gives, what their program needs to run (launch_profile.h), and the least of a
// system. What is not given does not exist for them, however it is spelled (docs/adr/0057).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "project/folders.h"
#include "project/project.h"
#include "sandbox/sandbox.h"
#include "servers/confine/confined_spec.h"
#include "servers/confine/server_network.h"
#include "servers/confine/server_places.h"

namespace mcpac::servers {

// Sets ServerConfig::confiner of each server that has a "sandbox", and Project::confined, from
// which each start takes what the rules give by then. Their warden is theirs alone, and starts with
// the first of them; it ends with the last that refers to it. `lowest`: the weakest tier that a
// person accepted by name; below B counts as B. Where the machine gives B, and that is accepted,
// they are started as tier_b.h says; an entry cannot accept it, as projects are written by others.
void confine_servers(project::Project& project, const project::Folders& folders,
                     sandbox::Tier lowest = sandbox::Tier::kA);

// Whether it could be started by what its entry says and by what is there; one without a sandbox
// can. Starts nothing, and looks at no tier and no rules. Any thread.
[[nodiscard]] Result<void> check_confined_start(const mcp::ServerConfig& server);

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

}  // namespace mcpac::servers
