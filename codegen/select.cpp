#include "codegen/select.h"

#include <algorithm>

#include "codegen/signature.h"

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

bool matches_glob(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;  // the last '*', and where its text began
  std::size_t from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

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
  look([&](const ToolRef& ref) { return matches_glob(pattern, ref.permission()); });
  look([&](const ToolRef& ref) { return matches_glob(plain, cpp_text(ref)); });
  return found;
}

}  // namespace mcpac::codegen
