#include "policy/decide.h"

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
  if (const auto found = layer.by_server.find(permission.server());
      found != layer.by_server.end()) {
    for (const auto& target : found->second) visit(target);
  }
  for (const auto& target : layer.everywhere) visit(target);
}

}  // namespace

std::optional<std::string> used_up(const CompiledRule& rule, const Times& times) {
  const auto& c = rule.clauses;
  if (c.calls && rule.calls_used >= *c.calls)
    return fmt::format("its {} calls are used up", *c.calls);
  if (c.rate && times.steady) {
    const auto in_window = std::ranges::count_if(
        rule.recent, [&](auto at) { return *times.steady - at < c.rate->unit; });
    if (static_cast<std::uint64_t>(in_window) >= c.rate->calls)
      return fmt::format("its rate of {} calls is used up for now", c.rate->calls);
  }
  if (c.duration && times.steady && times.start &&
      *times.steady - *times.start >= c.duration->value) {
    return fmt::format("its time of {} is over", c.duration->spelling);
  }
  if (c.until && times.wall && *times.wall >= c.until->value)
    return fmt::format("it ended at {}", c.until->spelling);
  return std::nullopt;
}

std::vector<const CompiledTarget*> covering(const CompiledLayer& layer,
                                            const Permission& permission) {
  std::vector<const CompiledTarget*> targets;
  for_each_covering(layer, permission,
                    [&](const CompiledTarget& target) { targets.push_back(&target); });
  return targets;
}

Verdict decide_layer(const CompiledLayer& layer, const CallUnderTest& call, const Times& times) {
  Verdict verdict;
  const auto targets = covering(layer, call.permission);
  for (const Effect effect : {Effect::kDeny, Effect::kAsk}) {
    for (const auto* target : targets) {
      const auto& rule = layer.rules[target->rule];
      if (rule.effect == effect && matches(*target, effect, call))
        return {effect, &rule, target, {}};
    }
  }
  // Every metered rule that matches is charged; of the others one is enough.
  const CompiledRule* unmetered = nullptr;
  for (const auto* target : targets) {
    const auto& rule = layer.rules[target->rule];
    if (rule.effect != Effect::kAllow || (unmetered != nullptr && !rule.has_meter())) continue;
    if (std::ranges::find(verdict.metered, target->rule) != verdict.metered.end()) continue;
    if ((rule.is_limited() && used_up(rule, times)) || !matches(*target, Effect::kAllow, call))
      continue;
    verdict.effect = Effect::kAllow;
    if (verdict.rule == nullptr) {
      verdict.rule = &rule;
      verdict.target = target;
    }
    if (rule.has_meter()) {
      verdict.metered.push_back(target->rule);
    } else {
      unmetered = &rule;
    }
  }
  return verdict;
}

Nearest nearest_rule(const CompiledLayer& layer, const CallUnderTest& call, const Times& times) {
  Nearest nearest;
  std::size_t most = 0;
  std::size_t missed = 0;
  for (const auto* target : covering(layer, call.permission)) {
    const auto& rule = layer.rules[target->rule];
    if (rule.effect == Effect::kDeny) continue;
    Miss miss;
    if (matches(*target, rule.effect, call, &miss)) {
      if (const auto over = used_up(rule, times)) return {target->rule_text, *over};
      continue;
    }
    ++missed;
    if (!nearest.rule.empty() && miss.passed <= most) continue;
    most = miss.passed;
    nearest = {target->rule_text, miss.why};
  }
  nearest.others = missed == 0 ? 0 : missed - 1;
  return nearest;
}

}  // namespace mcpac::policy
