// SPDX-License-Identifier: Apache-2.0

#include "policy/explain/rules_about.h"

#include <variant>

#include "policy/text/parser.h"
#include "policy/text/printer.h"

namespace mcpac::policy {
namespace {

bool means(const ast::Selector& selector, const Permission& tool) {
  return (!selector.server || *selector.server == tool.server()) &&
         (!selector.tool || *selector.tool == tool.tool());
}

// Empty: the rule does not speak of the tool.
std::string part_about(const std::string& text, const Permission& tool) {
  auto file = parse_file(SourceText{"rule", text});
  if (!file || file->items.size() != 1) return {};
  auto* statement = std::get_if<ast::Statement>(&file->items.front());
  auto* rule = statement == nullptr ? nullptr : std::get_if<ast::Rule>(statement);
  if (rule == nullptr) return {};
  std::erase_if(rule->targets,
                [&](const ast::Target& target) { return !means(target.selector, tool); });
  return rule->targets.empty() ? std::string() : print(*rule);
}

}  // namespace

std::vector<std::string> rules_about(const std::vector<LayerRules>& layers,
                                     const Permission& tool) {
  std::vector<std::string> lines;
  for (const auto& layer : layers) {
    if (layer.declared) continue;
    for (const auto& rule : layer.rules) {
      const std::string about = part_about(rule.text, tool);
      if (!about.empty()) lines.push_back(layer.name + ": " + about);
    }
  }
  return lines;
}

}  // namespace mcpac::policy
