// SPDX-License-Identifier: Apache-2.0

// Granted servers: the servers a source names that the grants reach, before anything is analysed.
#pragma once

#include <set>
#include <string>

#include "codegen/lock.h"
#include "policy/authority.h"

namespace mcpac::run {

// Whether the grants may admit a tool of the server.
[[nodiscard]] bool is_granted(const codegen::LockedServer& server,
                              const policy::Authority& granted);

// Names of the servers with a tool that the grants may admit, a selector like `files.*` included.
// `headers` are the servers that the source names, as named_servers() has them: a grant of
// everything starts no server that the program cannot mean.
[[nodiscard]] std::set<std::string> granted_servers(const std::set<std::string>& headers,
                                                    const codegen::Lock& lock,
                                                    const policy::Authority& granted);

}  // namespace mcpac::run
