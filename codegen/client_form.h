// SPDX-License-Identifier: Apache-2.0

// ClientForm: a tool's definition in the form that every MCP client accepts.
//
// Official SDKs refuse a whole list of tools for one whose schema is not "type": "object" at its
// root, or whose description is null (their types of the protocol's schema.ts say so). Nothing of
// it changes what is locked, checked or called.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace mcpac::codegen {

struct ClientForm {
  // Nothing where no client could call the tool.
  std::optional<OrderedJson> definition;
  // Differences from the server's words, or why there is no form: "its inputSchema has no \"type\":
  // \"object\", which clients are shown". Empty for most tools.
  std::vector<std::string> notes;
};

[[nodiscard]] ClientForm client_form(const OrderedJson& definition);

}  // namespace mcpac::codegen
