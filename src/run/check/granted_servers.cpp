// SPDX-License-Identifier: Apache-2.0

#include "run/check/granted_servers.h"

#include <algorithm>

#include "project/header_files.h"

namespace mcpac::run {

bool is_granted(const codegen::LockedServer& server, const policy::Authority& granted) {
  return std::ranges::any_of(server.tools, [&](const auto& tool) {
    const auto permission = Permission::parse(server.name + "." + tool.name);
    return permission && granted.coverage(*permission, "") != policy::Coverage::kMissing;
  });
}

std::set<std::string> granted_servers(const std::set<std::string>& headers,
                                      const codegen::Lock& lock, const policy::Authority& granted) {
  std::set<std::string> servers;
  for (const auto& server : lock.servers) {
    if (headers.contains(project::header_file_of(server)) && is_granted(server, granted))
      servers.insert(server.name);
  }
  return servers;
}

}  // namespace mcpac::run
