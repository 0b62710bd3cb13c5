#include "execute/check/granted_servers.h"

#include <algorithm>

#include "execute/build/named_servers.h"

namespace mcpac::execute {

std::set<std::string> granted_servers(const std::set<std::string>& headers,
                                      const codegen::Lock& lock, const policy::Authority& granted) {
  std::set<std::string> servers;
  for (const auto& server : lock.servers) {
    if (!headers.contains(header_file_of(server))) continue;
    const bool is_granted = std::ranges::any_of(server.tools, [&](const auto& tool) {
      const auto permission = Permission::parse(server.name + "." + tool.name);
      return permission && granted.coverage(*permission, "") != policy::Coverage::kMissing;
    });
    if (is_granted) servers.insert(server.name);
  }
  return servers;
}

}  // namespace mcpac::execute
