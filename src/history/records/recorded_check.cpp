// SPDX-License-Identifier: Apache-2.0

#include "history/records/recorded_check.h"

#include "policy/policy_record.h"

namespace mcpac::history {
namespace {

std::uint64_t number(const Json& object, std::string_view name) {
  const Json* member = find_member(object, name);
  return member != nullptr && member->is_number_unsigned() ? member->get<std::uint64_t>() : 0;
}

bool is_set(const Json& object, std::string_view name) {
  const Json* member = find_member(object, name);
  return member != nullptr && *member == true;
}

std::int64_t signed_number(const Json& object, std::string_view name) {
  const Json* member = find_member(object, name);
  return member != nullptr && member->is_number_integer() ? member->get<std::int64_t>() : 0;
}

std::unexpected<Error> unreadable(std::string_view what) {
  return fail(ErrorId::kAuditUnreadable, "a check in the log cannot be read: " + std::string(what));
}

std::optional<policy::Effect> effect_from(std::string_view text) {
  using policy::Effect;
  for (const Effect effect : {Effect::kAllow, Effect::kAsk, Effect::kDeny}) {
    if (policy::to_string(effect) == text) return effect;
  }
  return std::nullopt;
}

Result<policy::LayerEvidence> read_layer(const Json& json) {
  const auto effect = effect_from(string_member(json, "effect"));
  if (!effect) return unreadable("what a layer answered");
  policy::LayerEvidence layer{.effect = *effect, .rule = {}, .charged = {}};
  const Json* rule = find_member(json, "rule");
  if (rule != nullptr && rule->is_number_unsigned()) layer.rule = rule->get<std::size_t>();
  if (const Json* charged = find_member(json, "charged")) {
    if (!charged->is_array()) return unreadable("what a call was charged");
    for (const Json& index : *charged) {
      if (!index.is_number_unsigned()) return unreadable("what a call was charged");
      layer.charged.push_back(index.get<std::size_t>());
    }
  }
  layer.unmetered = is_set(json, "unmetered");
  return layer;
}

Result<policy::Evidence> read_evidence(const Json& payload) {
  policy::Evidence evidence;
  const Json* clock = find_member(payload, "clock");
  const Json* layers = find_member(payload, "layers");
  if (clock == nullptr || layers == nullptr || !layers->is_array())
    return unreadable("its clock or its layers");
  evidence.run_time = std::chrono::nanoseconds(signed_number(*clock, "run_ns"));
  evidence.wall = std::chrono::microseconds(signed_number(*clock, "wall_us"));
  for (const Json& json : *layers) {
    auto layer = read_layer(json);
    if (!layer) return pass_on(layer);
    evidence.layers.push_back(std::move(*layer));
  }
  if (const Json* meters = find_member(payload, "meters");
      meters != nullptr && meters->is_array()) {
    for (const Json& json : *meters) {
      evidence.meters.push_back({.layer = number(json, "layer"),
                                 .rule = number(json, "rule"),
                                 .calls = number(json, "calls"),
                                 .in_window = number(json, "in_window"),
                                 .bytes_in = number(json, "bytes_in"),
                                 .bytes_out = number(json, "bytes_out"),
                                 .cost = number(json, "cost")});
    }
  }
  evidence.bytes_out = number(payload, "bytes_out");
  evidence.cost = number(payload, "cost");
  if (const Json* paths = find_member(payload, "paths")) {
    auto facts = policy::read_path_facts(*paths);
    if (!facts) return pass_on(facts);
    evidence.paths = std::move(*facts);
  }
  return evidence;
}

}  // namespace

Result<std::optional<RecordedCheck>> read_check(const Json& payload) {
  const Json* allowed = find_member(payload, "allowed");
  if (allowed == nullptr || !allowed->is_boolean()) return unreadable("whether it was allowed");
  if (find_member(payload, "decided_by") == nullptr) return std::nullopt;
  const auto step = gate::decided_by_from(string_member(payload, "decided_by"));
  if (!step) return unreadable("who decided it");
  RecordedCheck check;
  check.call_id = number(payload, "call_id");
  check.capability = string_member(payload, "capability");
  check.allowed = allowed->get<bool>();
  check.would_deny = is_set(payload, "would_deny");
  check.decided_by = *step;
  check.rule = string_member(payload, "rule");
  check.layer = string_member(payload, "layer");
  check.tool_digest = string_member(payload, "tool_digest");
  check.approval = string_member(payload, "approval");
  check.level = string_member(payload, "level");
  if (const Json* asks = find_member(payload, "asks"); asks != nullptr && asks->is_array()) {
    for (const Json& rule : *asks)
      check.asks.push_back({string_member(rule, "layer"), string_member(rule, "rule"),
                            string_member(payload, "capability")});
  }
  check.redacted = is_set(payload, "redacted");
  if (const Json* arguments = find_member(payload, "arguments")) check.arguments = *arguments;
  if (*step == gate::DecidedBy::kPolicy || *step == gate::DecidedBy::kApproval) {
    auto evidence = read_evidence(payload);
    if (!evidence) return pass_on(evidence);
    check.evidence = std::move(*evidence);
  }
  return check;
}

}  // namespace mcpac::history
