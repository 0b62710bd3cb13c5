// SPDX-License-Identifier: Apache-2.0

// ToolDefinition and ServerListing: the offers of a server, exactly as it sent them.
//
// The client of real servers fills them, the lock pins them, the generator reads them: vocabulary
// that several rooms share, hence on the ground floor. Everything in them is a claim of the server.
#pragma once

#include <string>
#include <vector>

#include "core/claims.h"
#include "core/json.h"

namespace mcpac {

struct ToolDefinition {
  std::string name;  // the original MCP name, byte for byte
  OrderedJson
      definition;  // the whole object from tools/list: name, title, description, inputSchema, …
};

struct ServerListing {
  std::string server;    // the configured name
  std::string identity;  // what was started or called: command line or URL, secrets unexpanded
  std::string implementation;    // serverInfo "name version", as the server calls itself
  std::string protocol_version;  // the MCP revision that was negotiated
  std::vector<ToolDefinition> tools;
  Claims claims{};  // of its manifest
  // Its entry beside the identity, as mcpac.lock keeps it (codegen/lock_entry.h); null: it has no
  // entry.
  OrderedJson entry = nullptr;
};

}  // namespace mcpac
