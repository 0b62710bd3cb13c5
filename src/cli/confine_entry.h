// Confine entry: the "sandbox" of a server that is about to be written into mcpac.json, proposed by
// what its entry names (execute/servers/proposed_places.h) and tried once.
//
// Nothing is written here. A server is confined only where it started and listed its tools so;
// whether its calls work is not tried, and that is said.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "core/error.h"
#include "core/json.h"
#include "mcp/server_config.h"

namespace mcpac::cli {

// The one server of an entry, as mcpac.json would have it.
[[nodiscard]] Result<mcp::ServerConfig> server_of(const std::string& name,
                                                  const OrderedJson& entry);

// What `server` would have: `files` where there are some, else its own "sandbox", else a proposal.
// Says it, and why.
[[nodiscard]] Result<mcp::Confinement> proposed_sandbox(const Context& context,
                                                        const mcp::ServerConfig& server,
                                                        const std::vector<std::string>& files);

// Starts `server`, which has a "sandbox", lists its tools, and says so. The Error's fix says the
// ways out.
[[nodiscard]] Result<void> try_in_sandbox(const Context& context, const mcp::ServerConfig& server);

// Both, for an entry: its "sandbox" is set where that works.
[[nodiscard]] Result<void> confine_entry(const Context& context, const std::string& name,
                                         OrderedJson& entry, const std::vector<std::string>& files);

}  // namespace mcpac::cli
