#include "policy/explain/explain.h"

#include <fmt/format.h>

#include <algorithm>

namespace mcpac::policy {
namespace {

bool tests_a_path(const CompiledTarget& target) {
  return target.brackets && std::ranges::any_of(target.brackets->args, [](const CompiledArg& arg) {
           return std::ranges::any_of(arg.tests, [](const ast::Test& test) {
             return std::holds_alternative<ast::PathTest>(test.body);
           });
         });
}

}  // namespace

LayerExplanation explain_layer(const CompiledLayer& layer, const Verdict& verdict,
                               const CallUnderTest& call, const Times& times) {
  LayerExplanation explained;
  explained.name = layer.name;
  explained.effect = verdict.effect;
  if (verdict.target != nullptr) {
    explained.rule = verdict.target->rule_text;
    explained.place = verdict.target->place;
  }
  for (const auto* target : covering(layer, call.permission)) {
    const auto& rule = layer.rules[target->rule];
    Miss miss;
    RuleStanding standing;
    standing.kind = standing_of(rule, *target, call, times, &miss);
    standing.effect = rule.effect;
    standing.rule = target->rule_text;
    standing.place = target->place;
    standing.meters = meters_of(rule, times);
    if (standing.kind != RuleStanding::Kind::kMatches) {
      standing.why = std::move(miss.why);
      standing.argument = std::move(miss.argument);
      standing.value = std::move(miss.value);
      standing.test = std::move(miss.test);
    }
    explained.rules.push_back(std::move(standing));
  }
  if (!explained.rules.empty()) return explained;
  if (auto [target, why] = left_out(layer, call.permission); target != nullptr) {
    RuleStanding standing;
    standing.rule = target->rule_text;
    standing.place = target->place;
    standing.why = std::move(why);
    explained.rules.push_back(std::move(standing));
  }
  return explained;
}

std::optional<PathReading> path_reading(const std::vector<CompiledLayer>& layers,
                                        const Permission& permission,
                                        const Environment& environment) {
  const bool tested = std::ranges::any_of(layers, [&](const CompiledLayer& layer) {
    return std::ranges::any_of(covering(layer, permission),
                               [](const auto* target) { return tests_a_path(*target); });
  });
  if (!tested) return std::nullopt;
  const Bases& bases = environment.bases;
  const auto& server = permission.server();
  const auto root = bases.roots.find(server);
  const auto working = bases.working_directories.find(server);
  const bool remote = bases.remote_servers.contains(server);
  PathReading reading;
  reading.lexical_only = remote || environment.resolver == nullptr;
  reading.admit_base = root == bases.roots.end() ? bases.current_directory : root->second;
  if (root != bases.roots.end()) reading.catch_bases.push_back(root->second);
  if (!remote) {
    reading.catch_bases.push_back(
        working == bases.working_directories.end() ? bases.current_directory : working->second);
  }
  return reading;
}

}  // namespace mcpac::policy
