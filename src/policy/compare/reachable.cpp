// SPDX-License-Identifier: Apache-2.0

#include "policy/compare/reachable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "policy/compare/compare_layers.h"
#include "policy/rules/schema_view.h"
#include "policy/text/printer.h"

namespace mcpac::policy {
namespace {

// Rules that people write take a few thousand; what takes more is loaded unproven.
constexpr InclusionBudget kBudget{.steps = 300'000};

// What a schema may say of a value beyond its type.
bool is_constrained(const SchemaView& view) {
  constexpr std::array<const char*, 18> kWords = {"enum",
                                                  "const",
                                                  "pattern",
                                                  "minLength",
                                                  "maxLength",
                                                  "minimum",
                                                  "maximum",
                                                  "minItems",
                                                  "exclusiveMinimum",
                                                  "exclusiveMaximum",
                                                  "multipleOf",
                                                  "maxItems",
                                                  "anyOf",
                                                  "oneOf",
                                                  "allOf",
                                                  "not",
                                                  "if",
                                                  "uniqueItems"};
  return view.text() != nullptr &&
         std::ranges::any_of(kWords, [&](const char* w) { return view.text()->contains(w); });
}

SchemaView view_of(const Json& schema, const ast::ArgPath& path) {
  SchemaView view(schema);
  for (const auto& step : path.steps) {
    const auto* member = std::get_if<ast::Member>(&step);
    view = member == nullptr ? view.elements() : view.member(member->name).value_or(SchemaView());
  }
  return view;
}

// Two tests that meet in one value, or a test and a schema that says more than a type.
bool may_contradict(const ast::Brackets& brackets, const Json& schema) {
  std::set<std::string> paths;
  return std::ranges::any_of(brackets.args, [&](const ast::Arg& arg) {
    if (!paths.insert(print(arg.path)).second) return true;
    if (arg.tests.empty()) return false;
    return arg.tests.size() > 1 || !arg.exceptions.empty() ||
           is_constrained(view_of(schema, arg.path));
  });
}

// The rule with this one target, without limits: they say how often, not whether.
ast::Rule alone(Effect effect, ast::Target target) {
  ast::Rule rule;
  rule.effect = effect;
  rule.targets.push_back(std::move(target));
  return rule;
}

// Whether some call is answered otherwise because of the target.
Result<bool> may_match(const ast::Rule& rule, const ast::Target& target,
                       const Permission& permission, const SourceText& source,
                       const Environment& environment) {
  const bool denies = rule.effect == Effect::kDeny;
  std::vector<CompiledLayer> without(1);
  std::vector<CompiledLayer> with(1);
  const ast::Target whole{.selector = target.selector, .brackets = std::nullopt};
  for (auto* layers : {&without, &with}) {
    if (!denies) break;
    auto added = Loader{environment, layers->front()}.add(alone(Effect::kAllow, whole), source);
    if (!added) return pass_on(added);
  }
  auto added = Loader{environment, with.front()}.add(alone(rule.effect, target), source);
  if (!added) return pass_on(added);
  const auto answer = tool_beyond(denies ? with : without, denies ? without : with, permission,
                                  environment, kBudget);
  return !std::holds_alternative<Included>(answer);
}

}  // namespace

Result<void> check_reachable(const ast::Rule& rule, const SourceText& source,
                             const Environment& environment) {
  for (const auto& target : rule.targets) {
    const auto& selector = target.selector;
    if (!target.brackets || !selector.server || !selector.tool) continue;
    auto permission = Permission::of(*selector.server, *selector.tool);
    if (!permission) return pass_on(permission);
    const auto tool = environment.tools->find(*permission);
    if (tool == environment.tools->end() || !may_contradict(*target.brackets, tool->second))
      continue;
    auto matches = may_match(rule, target, *permission, source, environment);
    if (!matches) return pass_on(matches);
    if (*matches) continue;
    return source.error(ErrorId::kRuleIneffective, selector.at,
                        fmt::format("no call that the schema admits matches '{}'", print(target)),
                        "its tests contradict each other, or what the schema says",
                        "a rule that can never match is a mistake: mend its tests or leave it out");
  }
  return {};
}

}  // namespace mcpac::policy
