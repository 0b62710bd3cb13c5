// SPDX-License-Identifier: Apache-2.0

#include "cli/tool_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/search.h"
#include "core/nearest_name.h"
#include "core/printable.h"

namespace mcpac::cli {
namespace {

constexpr std::size_t kMostNamed = 5;

// The nearest by letters (a slip of the fingers), then by words. Without a server, a tool of any is
// meant.
std::vector<std::string> nearest(const codegen::Lock& lock, const std::string& name) {
  const auto all = codegen::all_tools(lock);
  std::vector<std::string> permissions;
  std::vector<std::string> tools;
  for (const auto& ref : all) {
    permissions.push_back(ref.permission());
    tools.push_back(ref.tool->name);
  }
  std::vector<std::string> near;
  const auto add = [&near](std::string found) {
    found = printable(found, 100);
    if (near.size() < kMostNamed && std::ranges::find(near, found) == near.end())
      near.push_back(std::move(found));
  };
  if (!name.contains('.')) {
    const std::string best = nearest_or_longer_name(name, tools);
    for (const auto& ref : all) {
      if (ref.tool->name == best) add(ref.permission());
    }
  }
  if (const auto best = nearest_or_longer_name(name, permissions); !best.empty()) add(best);
  for (const auto& hit : codegen::search_tools(lock, name, kMostNamed))
    add(hit.server->name + "." + hit.tool->name);
  return near;
}

std::unexpected<Error> unknown(const codegen::Lock& lock, const std::string& name) {
  const auto near = nearest(lock, name);
  std::string fix =
      near.empty() ? "mcpac tools list" : fmt::format("did you mean {}?", fmt::join(near, ", "));
  const std::string server = name.substr(0, name.find('.'));
  if (lock.find_server(server) != nullptr && server.size() < name.size())
    fix += fmt::format("; what {0} has and nobody accepted yet is told by `mcpac lock diff {0}`",
                       server);
  return fail(ErrorId::kUnknownTool, fmt::format("mcpac.lock has no tool {}", printable(name, 100)),
              {.fix = std::move(fix)});
}

}  // namespace

Result<std::vector<codegen::ToolRef>> choose_tools(const codegen::Lock& lock,
                                                   const std::vector<std::string>& patterns) {
  const auto all = codegen::all_tools(lock);
  if (patterns.empty()) return all;
  std::vector<codegen::ToolRef> chosen;
  for (const std::string& pattern : patterns) {
    const auto found = codegen::select_tools(lock, pattern);
    if (found.empty()) return unknown(lock, pattern);
    chosen.insert(chosen.end(), found.begin(), found.end());
  }
  std::vector<codegen::ToolRef> once;
  std::ranges::copy_if(all, std::back_inserter(once), [&](const codegen::ToolRef& ref) {
    return std::ranges::find(chosen, ref) != chosen.end();
  });
  return once;
}

Result<codegen::ToolRef> choose_tool(const codegen::Lock& lock, const std::string& name) {
  const auto found = codegen::select_tools(lock, name);
  if (found.empty()) return unknown(lock, name);
  if (found.size() == 1) return found.front();
  std::vector<std::string> names;
  for (const auto& ref : found) {
    if (names.size() < kMostNamed) names.push_back(printable(ref.permission(), 100));
  }
  return fail(ErrorId::kUnknownTool,
              fmt::format("{} means {} tools", printable(name, 100), found.size()),
              {.fix = fmt::format("name one: {}{}", fmt::join(names, ", "),
                                  found.size() > names.size() ? ", …" : "")});
}

}  // namespace mcpac::cli
