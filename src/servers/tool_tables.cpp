// SPDX-License-Identifier: Apache-2.0

#include "servers/tool_tables.h"

#include <fmt/format.h>

#include <array>

#include "core/canonical_json.h"
#include "core/hash.h"
#include "core/offer.h"
#include "core/shell_quote.h"

namespace mcpac::servers {
namespace {

Json input_schema(const codegen::LockedTool& tool) {
  const auto found = tool.definition.find("inputSchema");
  // MCP requires an inputSchema; a tool without one takes an empty object.
  if (found == tool.definition.end()) return {{"type", "object"}, {"additionalProperties", false}};
  return Json(*found);
}

template <class Visit>
void for_each_tool(const codegen::Lock& lock, Visit visit) {
  for (const auto& server : lock.servers) {
    for (const auto& tool : server.tools) {
      // The name is that of another thing in rules; no lock that mcpac wrote has it.
      if (offer_named(tool.name)) continue;
      if (auto permission = Permission::of(server.name, tool.name)) visit(*permission, tool);
    }
  }
}

constexpr std::array kOffers = {Offer::kResource, Offer::kPrompt};

gate::LockedTool compiled(Offer offer) {
  const Json& schema = schema_of(offer);
  return {JsonSchema::compile(schema).value(), sha256_hex(canonical_json(schema)), nullptr};
}

}  // namespace

policy::ToolSchemas tool_schemas(const codegen::Lock& lock) {
  policy::ToolSchemas schemas;
  for_each_tool(lock, [&schemas](const Permission& permission, const codegen::LockedTool& tool) {
    schemas.emplace(permission, input_schema(tool));
  });
  for (const auto& server : lock.servers) {
    for (const Offer offer : kOffers) {
      if (auto permission = Permission::of(server.name, name_of(offer)))
        schemas.emplace(std::move(*permission), schema_of(offer));
    }
  }
  return schemas;
}

policy::ToolSchemas tool_schemas(const codegen::Lock& lock, const std::set<Permission>& tools) {
  policy::ToolSchemas schemas;
  for (const Permission& permission : tools) {
    if (const auto* tool = lock.find_tool(permission.server(), permission.tool()))
      schemas.emplace(permission, input_schema(*tool));
  }
  return schemas;
}

CompiledTools compile_tools(const codegen::Lock& lock, const std::set<std::string>& servers,
                            const codegen::ServerChecks& server_checks) {
  CompiledTools compiled;
  for_each_tool(lock, [&](const Permission& permission, const codegen::LockedTool& tool) {
    if (!servers.contains(permission.server())) return;
    const Json text = input_schema(tool);
    const bool is_left = server_checks(permission.server(), permission.tool());
    auto schema = JsonSchema::compile(
        text, is_left ? UncheckablePatterns::kLeave : UncheckablePatterns::kRefuse);
    if (schema) {
      compiled.table.emplace(permission, gate::LockedTool{std::move(*schema), tool.digest,
                                                          gate::SecretPlaces::of(text)});
    } else {
      Error error = schema.error();
      error.where = permission.text();
      if (!is_left && JsonSchema::compile(text, UncheckablePatterns::kLeave))
        error.fix =
            fmt::format("mcpac server set {} --server-checks {} lets its server alone check it",
                        shell_quoted(permission.server()), shell_quoted(permission.tool()));
      compiled.unusable.push_back(std::move(error));
    }
  });
  return compiled;
}

void add_offers(const std::set<Permission>& held, const codegen::Lock& lock,
                gate::ToolTable& table) {
  for (const Permission& permission : held) {
    const auto offer = offer_named(permission.tool());
    if (offer && lock.find_server(permission.server()) != nullptr)
      table.emplace(permission, compiled(*offer));
  }
}

}  // namespace mcpac::servers
