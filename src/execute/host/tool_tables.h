// The lock as the gate and the policy want it: compiled schemas, and plain ones.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/lock.h"
#include "gate/upstream.h"
#include "policy/authority.h"

namespace mcpac::execute {

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
                                          const std::set<std::string>& servers);

}  // namespace mcpac::execute
