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
  RelativeStarts starts = relative_starts(bases, server);
  PathReading reading;
  reading.home = bases.home;
  reading.lexical_only = bases.remote_servers.contains(server) || environment.resolver == nullptr;
  reading.has_root = starts.has_root;
  reading.is_unknown = starts.is_unknown;
  reading.admit_base = starts.admit.front();
  reading.further_bases.assign(starts.admit.begin() + 1, starts.admit.end());
  reading.catch_bases = std::move(starts.to_catch);
  return reading;
}

}  // namespace mcpac::policy
