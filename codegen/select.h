// SPDX-License-Identifier: Apache-2.0

// Select: the tools of a lock that a person or a model means by a word.
//
// People copy names from grants (everything.get-sum), from C++ (mcp::everything::get_sum,
// rt.everything.get_sum) and from memory (get_sum, everything); all of them are understood, the
// original name first. This is for looking at tools and for naming one to call; a grant is never
// read this way: it names the original, or it is refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/lock.h"

namespace mcpac::codegen {

struct ToolRef {
  const LockedServer* server = nullptr;
  const LockedTool* tool = nullptr;
  [[nodiscard]] std::string permission() const { return server->name + "." + tool->name; }
  friend bool operator==(const ToolRef&, const ToolRef&) = default;
};

[[nodiscard]] std::vector<ToolRef> all_tools(const Lock& lock);

// In the order of the lock; empty where nothing is meant. The first of these that finds something:
// server.tool; the same in C++ names; a server; a tool's name alone; a pattern with '*' and '?'
// (any one byte) over server.tool or over the C++ name.
[[nodiscard]] std::vector<ToolRef> select_tools(const Lock& lock, std::string_view pattern);

}  // namespace mcpac::codegen
