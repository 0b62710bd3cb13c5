// What a user approves about a tool, and the one number that stands for it.
#include <algorithm>
#include <array>
#include <functional>

#include "codegen/lock.h"
#include "core/canonical_json.h"
#include "core/hash.h"

namespace mcpac::codegen {

// Icons, _meta and execution hints are left out: they say nothing about what a call does, and
// servers change them from start to start.
std::string definition_digest(const OrderedJson& definition) {
  static constexpr auto kApproved = std::to_array<std::string_view>(
      {"name", "title", "description", "inputSchema", "outputSchema", "annotations"});
  return sha256_hex(canonical_json(definition, kApproved));
}

const LockedServer* Lock::find_server(std::string_view name) const {
  for (const LockedServer& server : servers) {
    if (server.name == name) return &server;
  }
  return nullptr;
}

const LockedTool* Lock::find_tool(std::string_view server, std::string_view tool) const {
  const LockedServer* found = find_server(server);
  if (found == nullptr) return nullptr;
  const auto at = std::ranges::lower_bound(found->tools, tool, {}, &LockedTool::name);
  return at != found->tools.end() && at->name == tool ? &*at : nullptr;
}

}  // namespace mcpac::codegen
