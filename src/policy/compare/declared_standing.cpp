#include "policy/compare/declared_standing.h"

#include <algorithm>
#include <optional>

#include "policy/compare/compare_layers.h"
#include "policy/decide/decide.h"
#include "policy/text/parser.h"

namespace mcpac::policy {
namespace {

// The declared permission as the one rule of a layer; nothing where it does not load.
std::optional<CompiledLayer> declared_layer(const Permission& permission, std::string_view where,
                                            const Environment& environment) {
  const SourceText source{"where", where};
  ast::Rule rule;
  rule.targets.push_back({.selector = {.server = permission.server(), .tool = permission.tool()},
                          .brackets = std::nullopt});
  if (!where.empty()) {
    auto brackets = parse_brackets(source);
    if (!brackets) return std::nullopt;
    rule.targets.front().brackets = std::move(*brackets);
  }
  CompiledLayer layer;
  layer.name = "declared";
  if (!Loader{environment, layer}.add(rule, source)) return std::nullopt;
  return layer;
}

// What the rules say by their form alone: most programs need no more.
Coverage coverage_in(const CompiledLayer& layer, const Permission& permission,
                     const std::string& declared) {
  Coverage coverage = Coverage::kMissing;
  bool surely = true;
  for (const auto* target : covering(layer, permission)) {
    const auto& rule = layer.rules[target->rule];
    if (rule.effect == Effect::kDeny && target->whole_tool()) return Coverage::kMissing;
    surely = surely && rule.effect == Effect::kAllow;
    if (rule.effect == Effect::kDeny) continue;
    const bool admits_all = rule.effect == Effect::kAllow && !rule.is_limited() &&
                            (target->whole_tool() || target->text == declared);
    if (admits_all) {
      coverage = Coverage::kCovered;
    } else if (coverage == Coverage::kMissing) {
      coverage = Coverage::kConditional;
    }
  }
  return coverage == Coverage::kCovered && !surely ? Coverage::kConditional : coverage;
}

}  // namespace

DeclaredStanding declared_standing(const std::vector<CompiledLayer>& layers,
                                   const Permission& permission, std::string_view where,
                                   const Environment& environment, KnownStrings& strings,
                                   const InclusionBudget& budget) {
  if (layers.empty()) return {};
  std::vector<CompiledLayer> declared;
  auto layer = declared_layer(permission, where, environment);
  if (!layer) return {};
  declared.push_back(std::move(*layer));
  const auto& text = covering(declared.front(), permission).front()->text;
  DeclaredStanding standing;
  standing.coverage = Coverage::kCovered;
  for (const auto& granted : layers)
    standing.coverage = std::max(standing.coverage, coverage_in(granted, permission, text));
  if (standing.coverage != Coverage::kConditional) return standing;
  auto relation = relate_tool(layers, declared, permission, environment, budget, strings);
  if (std::holds_alternative<Included>(relation.beyond)) {
    standing.coverage = Coverage::kCovered;
  } else if (!relation.in_common) {
    standing.coverage = Coverage::kMissing;
    if (auto* excess = std::get_if<Excess>(&relation.beyond))
      standing.refused = std::move(excess->arguments);
  }
  standing.steps = relation.steps;
  standing.is_certain = !std::holds_alternative<Undecided>(relation.beyond);
  return standing;
}

}  // namespace mcpac::policy
