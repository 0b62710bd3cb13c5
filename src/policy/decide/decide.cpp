// SPDX-License-Identifier: Apache-2.0

#include "policy/decide/decide.h"

#include <fmt/format.h>

#include <algorithm>

namespace mcpac::policy {
namespace {

template <class Visit>
void for_each_covering(const CompiledLayer& layer, const Permission& permission, Visit visit) {
  if (const auto found = layer.by_tool.find(permission); found != layer.by_tool.end()) {
    for (const auto& target : found->second) visit(target);
  }
  if (is_control(permission)) return;
  const auto visit_wide = [&](const std::vector<CompiledTarget>& targets) {
    for (const auto& target : targets) {
      if (!target.leaves_out.contains(permission)) visit(target);
    }
  };
  if (const auto found = layer.by_server.find(permission.server()); found != layer.by_server.end())
    visit_wide(found->second);
  visit_wide(layer.everywhere);
}

bool is_approved(const CompiledLayer& layer, const CompiledTarget& target,
                 std::span<const AskRule> approved) {
  return std::ranges::any_of(approved, [&](const AskRule& rule) {
    return rule.layer == layer.name && rule.rule == target.rule_text;
  });
}

}  // namespace

std::vector<const CompiledTarget*> covering(const CompiledLayer& layer,
                                            const Permission& permission) {
  std::vector<const CompiledTarget*> targets;
  for_each_covering(layer, permission,
                    [&](const CompiledTarget& target) { targets.push_back(&target); });
  return targets;
}

LeftOut left_out(const CompiledLayer& layer, const Permission& permission) {
  const auto among = [&](const std::vector<CompiledTarget>& targets) -> LeftOut {
    for (const auto& target : targets) {
      const auto lacks = target.leaves_out.find(permission);
      if (lacks == target.leaves_out.end()) continue;
      return {&target, fmt::format("{} has no argument {}, and a rule with a wildcard covers the "
                                   "tools that have what it tests",
                                   permission.text(), lacks->second)};
    }
    return {};
  };
  const auto of_server = layer.by_server.find(permission.server());
  if (of_server != layer.by_server.end()) {
    if (auto found = among(of_server->second); found.target != nullptr) return found;
  }
  return among(layer.everywhere);
}

RuleStanding::Kind standing_of(const CompiledRule& rule, const CompiledTarget& target,
                               const CallUnderTest& call, const Times& times, Miss* miss) {
  using Kind = RuleStanding::Kind;
  if (!matches(target, rule.effect, call, miss)) return Kind::kMisses;
  if (!rule.is_limited()) return Kind::kMatches;
  auto over = used_up(rule, times, call.demand);
  if (!over) return Kind::kMatches;
  if (miss != nullptr) miss->why = std::move(*over);
  return Kind::kUsedUp;
}

std::vector<AskRule> asking(const CompiledLayer& layer, const CallUnderTest& call,
                            const Times& times) {
  std::vector<AskRule> rules;
  for (const auto* target : covering(layer, call.permission)) {
    const auto& rule = layer.rules[target->rule];
    if (rule.effect == Effect::kAsk &&
        standing_of(rule, *target, call, times) == RuleStanding::Kind::kMatches)
      rules.push_back({layer.name, target->rule_text, call.permission.text()});
  }
  return rules;
}

namespace {

// What one kind of rule says: a verdict where it says no or asks; else what was approved of it is
// noted in `verdict`.
std::optional<Verdict> strict_verdict(const CompiledLayer& layer,
                                      const std::vector<const CompiledTarget*>& targets,
                                      Effect effect, bool otherwise, const CallUnderTest& call,
                                      const Times& times, std::span<const AskRule> approved,
                                      Verdict& verdict) {
  for (const auto* target : targets) {
    const auto& rule = layer.rules[target->rule];
    if (rule.effect != effect || rule.asks_otherwise() != otherwise ||
        standing_of(rule, *target, call, times) != RuleStanding::Kind::kMatches)
      continue;
    if (effect == Effect::kDeny || !is_approved(layer, *target, approved))
      return Verdict{effect, &rule, target, {}, false};
    verdict.effect = Effect::kAllow;
    if (verdict.rule == nullptr) {
      verdict.rule = &rule;
      verdict.target = target;
    }
    if (!rule.has_meter()) {
      verdict.unmetered = true;
    } else if (std::ranges::find(verdict.metered, target->rule) == verdict.metered.end()) {
      verdict.metered.push_back(target->rule);
    }
  }
  return std::nullopt;
}

}  // namespace

Verdict decide_layer(const CompiledLayer& layer, const CallUnderTest& call, const Times& times,
                     std::span<const AskRule> approved) {
  Verdict verdict;
  const auto targets = covering(layer, call.permission);
  for (const Effect effect : {Effect::kDeny, Effect::kAsk}) {
    if (auto strict = strict_verdict(layer, targets, effect, false, call, times, approved, verdict))
      return *std::move(strict);
  }
  // Every metered rule that matches is charged; of the others one is enough.
  const CompiledRule* unmetered = nullptr;
  for (const auto* target : targets) {
    const auto& rule = layer.rules[target->rule];
    if (rule.effect != Effect::kAllow || (unmetered != nullptr && !rule.has_meter())) continue;
    if (std::ranges::find(verdict.metered, target->rule) != verdict.metered.end()) continue;
    if (standing_of(rule, *target, call, times) != RuleStanding::Kind::kMatches) continue;
    verdict.effect = Effect::kAllow;
    if (verdict.rule == nullptr) {
      verdict.rule = &rule;
      verdict.target = target;
    }
    if (rule.has_meter()) {
      verdict.metered.push_back(target->rule);
    } else {
      unmetered = &rule;
      verdict.unmetered = true;
    }
  }
  if (verdict.effect == Effect::kAllow || !layer.has_otherwise) return verdict;
  if (auto asks =
          strict_verdict(layer, targets, Effect::kAsk, true, call, times, approved, verdict))
    return *std::move(asks);
  return verdict;
}

std::vector<MissedTarget> missed_targets(const CompiledLayer& layer, const CallUnderTest& call,
                                         const Times& times) {
  std::vector<MissedTarget> missed;
  for (const auto* target : covering(layer, call.permission)) {
    const auto& rule = layer.rules[target->rule];
    if (rule.effect == Effect::kDeny) continue;
    MissedTarget one{.target = target};
    const auto kind = standing_of(rule, *target, call, times, &one.miss);
    if (kind == RuleStanding::Kind::kMatches) continue;
    one.used_up = kind == RuleStanding::Kind::kUsedUp;
    one.ended = one.used_up && has_ended(rule, times);
    missed.push_back(std::move(one));
  }
  return missed;
}

Nearest nearest_rule(const CompiledLayer& layer, const CallUnderTest& call, const Times& times) {
  Nearest nearest;
  std::size_t most = 0;
  std::size_t missed = 0;
  for (const auto& [target, miss, used_up, ended] : missed_targets(layer, call, times)) {
    if (used_up) return {target->rule_text, miss.why, target->place, 0, true, ended};
    ++missed;
    if (!nearest.rule.empty() && miss.passed <= most) continue;
    most = miss.passed;
    nearest = {target->rule_text, miss.why, target->place};
  }
  if (missed == 0) {
    const auto [target, why] = left_out(layer, call.permission);
    if (target != nullptr) nearest = {target->rule_text, why, target->place};
    return nearest;
  }
  nearest.others = missed - 1;
  return nearest;
}

}  // namespace mcpac::policy
