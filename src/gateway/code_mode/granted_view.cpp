// SPDX-License-Identifier: Apache-2.0

#include "gateway/code_mode/granted_view.h"

#include <algorithm>
#include <utility>

#include "codegen/generate.h"
#include "codegen/prompt.h"
#include "gate/answer.h"
#include "gateway/code_mode/bounds.h"
#include "policy/explain/rules_about.h"

namespace mcpac::gateway::code_mode {
namespace {

constexpr std::string_view kHow =
    R"(mcpac runs C++ programs that call MCP tools: one program takes the place of many tool calls, and only what it prints or returns comes back to you.

- search_tools finds tools by words, describe_tools gives their C++ (where `mcpac tools describe` is spoken of below, use it).
- execute_agent analyses, compiles and runs a program. What it declares must be granted, which analyze_agent tells without running it. Calls that a rule asks about are put to the person.
- Errors of the compiler, denials and limits come back as data: mend the program, and never try a denied call again.

)";

codegen::Lock granted_part(const codegen::Lock& lock, const std::set<Permission>& tools) {
  codegen::Lock part;
  for (const auto& server : lock.servers) {
    codegen::LockedServer some = server;
    std::erase_if(some.tools, [&](const codegen::LockedTool& tool) {
      const auto permission = Permission::of(server.name, tool.name);
      return !permission || !tools.contains(*permission);
    });
    if (!some.tools.empty()) part.servers.push_back(std::move(some));
  }
  return part;
}

std::string stated_places(const policy::Authority& authority) {
  std::string lines;
  for (const auto& layer : authority.layers()) {
    for (const auto& place : layer.places) lines += place.text + "\n";
  }
  return gate::bounded(lines, kMaxConditions);
}

}  // namespace

GrantedView::GrantedView(const codegen::Lock& lock, const std::set<Permission>& tools,
                         const policy::Authority& authority, const project::Project& project)
    : lock_(granted_part(lock, tools)), project_(project) {
  const auto layers = authority.layers();
  for (const Permission& tool : tools) {
    if (lock_.find_tool(tool.server(), tool.tool()) == nullptr) continue;
    Granted granted{.rules = policy::rules_about(layers, tool),
                    .is_conditional = authority.coverage(tool, "") != policy::Coverage::kCovered};
    if (granted.rules.size() > kMaxRules) granted.rules.resize(kMaxRules);
    granted_.emplace(tool, std::move(granted));
  }
  instructions_ = make_instructions(authority);
}

const GrantedView::Granted& GrantedView::granted(const Permission& tool) const {
  static const Granted kNothing;
  const auto found = granted_.find(tool);
  return found == granted_.end() ? kNothing : found->second;
}

std::string GrantedView::all_rules() const {
  std::set<std::string> seen;
  std::string lines;
  for (const auto& [tool, granted] : granted_) {
    for (const std::string& rule : granted.rules) {
      if (seen.insert(rule).second) lines += rule + "\n";
    }
  }
  return gate::bounded(lines, kMaxConditions);
}

// The fullest form that fits; of a form that never does, the beginning.
std::string GrantedView::make_instructions(const policy::Authority& authority) const {
  using codegen::PromptFormat;
  const auto tools = codegen::all_tools(lock_);
  codegen::PromptOptions options{.format = codegen::default_format(tools.size()),
                                 .granted = {},
                                 .places = stated_places(authority)};
  const bool is_conditional =
      std::ranges::any_of(granted_, [](const auto& tool) { return tool.second.is_conditional; });
  if (is_conditional) options.granted = all_rules();
  std::string text = std::string(kHow) + codegen::prompt(tools, options);
  for (const auto shorter : {PromptFormat::kDigest, PromptFormat::kNames}) {
    if (text.size() <= kMaxInstructions) break;
    options.format = shorter;
    text = std::string(kHow) + codegen::prompt(tools, options);
  }
  if (text.size() <= kMaxInstructions) return text;
  return gate::bounded(text, kMaxInstructions) +
         "\n(cut here: search_tools and describe_tools tell the rest)\n";
}

Result<std::shared_ptr<const GrantedView::Ready>> GrantedView::ready() const {
  const std::scoped_lock alone(making_);
  if (ready_) return ready_;
  auto made = codegen::regenerate(lock_);
  if (!made) return pass_on(made);
  auto kept = std::make_shared<project::KeptProject>();
  kept->headers = std::move(made->files);
  if (project_.kept) kept->policy = project_.kept->policy;
  auto ready = std::make_shared<Ready>();
  ready->lock = std::move(made->lock);
  ready->project = project_;
  ready->project.kept = std::move(kept);
  ready_ = std::move(ready);
  return ready_;
}

}  // namespace mcpac::gateway::code_mode
