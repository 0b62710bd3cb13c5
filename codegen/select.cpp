// SPDX-License-Identifier: Apache-2.0

#include "codegen/select.h"

#include <algorithm>

#include "codegen/signature.h"
#include "core/glob.h"

namespace mcpac::codegen {
namespace {

// "mcp::everything::get_sum", "::mcp::…", "rt.everything.get_sum(" -> "everything.get_sum"
std::string without_cpp(std::string_view text) {
  for (const std::string_view prefix : {"::", "mcp::", "rt."}) {
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  }
  std::string name(text.substr(0, text.find('(')));
  if (const auto at = name.find("::"); at != std::string::npos) name.replace(at, 2, ".");
  return name;
}

std::string cpp_text(const ToolRef& ref) {
  return short_name(ref.server->cpp_name) + "." + short_name(ref.tool->cpp_name);
}

template <class Predicate>
std::vector<ToolRef> those(const std::vector<ToolRef>& all, Predicate predicate) {
  std::vector<ToolRef> found;
  std::ranges::copy_if(all, std::back_inserter(found), predicate);
  return found;
}

}  // namespace

std::vector<ToolRef> all_tools(const Lock& lock) {
  std::vector<ToolRef> all;
  for (const LockedServer& server : lock.servers) {
    for (const LockedTool& tool : server.tools) all.push_back({&server, &tool});
  }
  return all;
}

std::vector<ToolRef> select_tools(const Lock& lock, std::string_view pattern) {
  const std::vector<ToolRef> all = all_tools(lock);
  const std::string plain = without_cpp(pattern);
  std::vector<ToolRef> found;
  const auto look = [&](auto predicate) {
    if (found.empty()) found = those(all, predicate);
  };
  look([&](const ToolRef& ref) { return ref.permission() == pattern; });
  look([&](const ToolRef& ref) { return cpp_text(ref) == plain; });
  look(
      [&](const ToolRef& ref) {  // "everything.get_sum" where the server is my-server in mcpac.json
        return ref.server->name + "." + short_name(ref.tool->cpp_name) == plain ||
               short_name(ref.server->cpp_name) + "." + ref.tool->name == plain;
      });
  look([&](const ToolRef& ref) { return ref.server->name == pattern; });
  look([&](const ToolRef& ref) { return short_name(ref.server->cpp_name) == plain; });
  look([&](const ToolRef& ref) { return ref.tool->name == pattern; });
  look([&](const ToolRef& ref) { return short_name(ref.tool->cpp_name) == plain; });
  look([&](const ToolRef& ref) {
    return glob_matches(pattern, ref.permission(), QuestionMark::kAnyByte);
  });
  look([&](const ToolRef& ref) {
    return glob_matches(plain, cpp_text(ref), QuestionMark::kAnyByte);
  });
  return found;
}

}  // namespace mcpac::codegen
