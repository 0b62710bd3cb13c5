// SPDX-License-Identifier: Apache-2.0

#include "policy/decide/find_evidence.h"

#include <algorithm>
#include <limits>

namespace mcpac::policy {
namespace {

// Of a layer where nothing matched: their reader wants to know which rule to change.
constexpr std::size_t kMaxMissed = 3;

struct Near {
  MissedRule rule;
  std::size_t passed = 0;
  std::size_t place = 0;  // among those that missed
};

// As nearest_rule() orders them: used up first, then by the arguments that held.
void find_missed(const std::vector<CompiledLayer>& layers, std::size_t index,
                 const CallUnderTest& call, const Times& times, Evidence& evidence) {
  const CompiledLayer& layer = layers[index];
  std::vector<Near> near;
  for (auto& [target, miss, used_up, ended] : missed_targets(layer, call, times)) {
    std::string plain = miss.plain.empty() || used_up ? miss.why : std::move(miss.plain);
    near.push_back({{index, target->rule, std::move(miss.why), std::move(plain)},
                    used_up ? std::numeric_limits<std::size_t>::max() : miss.passed,
                    near.size()});
  }
  std::ranges::sort(near, [](const Near& a, const Near& b) {
    return a.passed != b.passed ? a.passed > b.passed : a.place < b.place;
  });
  for (std::size_t i = 0; i < near.size() && i < kMaxMissed; ++i)
    evidence.missed.push_back(std::move(near[i].rule));
  evidence.missed_further += near.size() - std::min(near.size(), kMaxMissed);
}

MeterReading read_meter(const CompiledRule& rule, std::size_t layer, std::size_t index,
                        const Times& times) {
  const auto& clauses = rule.clauses;
  return {.layer = layer,
          .rule = index,
          .calls = rule.used.calls,
          .in_window = clauses.rate && times.steady ? calls_in_window(rule, times) : 0,
          .bytes_in = rule.used.bytes_in,
          .bytes_out = rule.used.bytes_out,
          .cost = rule.used.cost};
}

LayerEvidence evidence_of(const Verdict& verdict) {
  LayerEvidence evidence{.effect = verdict.effect,
                         .rule = {},
                         .charged = verdict.metered,
                         .unmetered = verdict.unmetered && !verdict.metered.empty()};
  if (verdict.target != nullptr) evidence.rule = verdict.target->rule;
  std::ranges::sort(evidence.charged);
  return evidence;
}

}  // namespace

std::string to_string(AuditLevel level) {
  switch (level) {
    case AuditLevel::kMeta: return "meta";
    case AuditLevel::kHash: return "hash";
    case AuditLevel::kArgs: break;
  }
  return "args";
}

void find_evidence(const std::vector<CompiledLayer>& layers, const std::vector<Verdict>& verdicts,
                   const CallUnderTest& call, const Times& times, Evidence& evidence) {
  if (times.start && times.steady) evidence.run_time = *times.steady - *times.start;
  if (times.wall) {
    evidence.wall = std::chrono::floor<std::chrono::microseconds>(times.wall->time_since_epoch());
  }
  evidence.bytes_out = call.demand.bytes_out;
  evidence.cost = call.demand.cost;
  evidence.meters = meter_readings(layers, call.permission, times);
  evidence.layers.reserve(verdicts.size());
  for (const auto& verdict : verdicts) evidence.layers.push_back(evidence_of(verdict));
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts[i].effect == Effect::kDeny && verdicts[i].rule == nullptr)
      find_missed(layers, i, call, times, evidence);
  }
}

AuditLevel audit_level(const std::vector<CompiledLayer>& layers, const Permission& permission) {
  std::optional<AuditLevel> least;
  for (const auto& layer : layers) {
    if (!layer.has_audit_clause) continue;
    for (const auto* target : covering(layer, permission)) {
      const auto& wish = layer.rules[target->rule].clauses.audit;
      if (!wish) continue;
      const AuditLevel level = *wish == "args"   ? AuditLevel::kArgs
                               : *wish == "hash" ? AuditLevel::kHash
                                                 : AuditLevel::kMeta;
      least = std::min(least.value_or(level), level);
    }
  }
  return least.value_or(AuditLevel::kHash);
}

bool weighs_arguments(const std::vector<CompiledLayer>& layers, const Permission& permission) {
  return std::ranges::any_of(layers, [&](const CompiledLayer& layer) {
    return std::ranges::any_of(covering(layer, permission), [&](const CompiledTarget* target) {
      return !target->whole_tool() || layer.rules[target->rule].clauses.bytes_out;
    });
  });
}

std::vector<MeterReading> meter_readings(const std::vector<CompiledLayer>& layers,
                                         const Permission& permission, const Times& times) {
  std::vector<MeterReading> readings;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!layers[i].has_meter) continue;
    std::vector<std::size_t> rules;  // a rule may name the tool twice
    for (const auto* target : covering(layers[i], permission)) {
      if (layers[i].rules[target->rule].has_meter()) rules.push_back(target->rule);
    }
    std::ranges::sort(rules);
    const auto rest = std::ranges::unique(rules);
    rules.erase(rest.begin(), rest.end());
    for (const std::size_t rule : rules)
      readings.push_back(read_meter(layers[i].rules[rule], i, rule, times));
  }
  return readings;
}

Usage usage_of(const MeterReading& reading, const Times& times) {
  Usage usage{.calls = reading.calls,
              .bytes_out = reading.bytes_out,
              .bytes_in = reading.bytes_in,
              .cost = reading.cost,
              .recent = {}};
  if (times.steady) usage.recent.assign(reading.in_window, *times.steady);
  return usage;
}

}  // namespace mcpac::policy
