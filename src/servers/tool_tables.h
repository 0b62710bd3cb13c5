// SPDX-License-Identifier: Apache-2.0

// The lock as the gate and the policy want it: compiled schemas, and plain ones.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/generate.h"
#include "codegen/lock.h"
#include "gate/upstream.h"
#include "policy/authority.h"

namespace mcpac::servers {

// All that rules may name: tools, and what each server has besides them (core/offer.h).
[[nodiscard]] policy::ToolSchemas tool_schemas(const codegen::Lock& lock);
// Of these tools alone: all that the rules about them are judged by.
[[nodiscard]] policy::ToolSchemas tool_schemas(const codegen::Lock& lock,
                                               const std::set<Permission>& tools);

struct CompiledTools {
  gate::ToolTable table;
  std::vector<Error>
      unusable;  // tools whose schema cannot be compiled: not callable, said when asked for
};
// Only the tools of `servers`: a run has nothing to do with the others.
[[nodiscard]] CompiledTools compile_tools(const codegen::Lock& lock,
                                          const std::set<std::string>& servers,
                                          const codegen::ServerChecks& server_checks);
// The offers among `held`, for the servers of the lock. Programs hold none: only a gateway's
// clients get them.
void add_offers(const std::set<Permission>& held, const codegen::Lock& lock,
                gate::ToolTable& table);

}  // namespace mcpac::servers
