#include "policy/authority_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/explain/explain.h"
#include "policy/explain/would_grant.h"

namespace mcpac::policy {
namespace {

// Most schemas need not be compiled for it.
bool has_defaults(const Json& schema) {
  if (!schema.is_structured()) return false;
  if (schema.is_object() && schema.contains("default")) return true;
  return std::ranges::any_of(schema, has_defaults);
}

}  // namespace

Times Authority::Impl::now() const {
  Times times{.start = start, .steady = {}, .wall = {}};
  if (environment.clock != nullptr) {
    times.steady = environment.clock->steady_now();
    times.wall = environment.clock->wall_now();
  }
  return times;
}

const Json* Authority::Impl::schema_of(const Permission& permission) const {
  const auto found = environment.tools->find(permission);
  return found == environment.tools->end() ? nullptr : &found->second;
}

const DefaultPlace* Authority::Impl::defaults_of(const Json& schema) const {
  const auto [at, is_new] = defaults.try_emplace(&schema, nullptr);
  if (is_new && has_defaults(schema)) {
    // One that does not compile has no calls.
    if (auto compiled = JsonSchema::compile(schema))
      at->second = std::make_unique<const SchemaDefaults>(std::move(*compiled));
  }
  return at->second == nullptr ? nullptr : at->second->root();
}

Demand Authority::Impl::demand_of(const Permission& permission, const Json& arguments) const {
  Demand demand;
  if (weighs_arguments) demand.bytes_out = to_text(arguments).size();
  const auto price = environment.prices.find(permission);
  if (price != environment.prices.end()) demand.cost = price->second.millionths;
  return demand;
}

void Authority::Impl::reserve(const std::vector<Verdict>& verdicts, const Times& times,
                              const Demand& demand, Decision& decision) {
  const auto held = reservations.charge(layers, verdicts, times, demand);
  decision.reservation = held.id;
  decision.counts_result = held.counts_result;
}

Decision Authority::Impl::refusal(std::size_t index, const Verdict& verdict,
                                  const CallUnderTest& call, const Times& times) const {
  const auto& layer = layers[index];
  Decision decision{.effect = verdict.effect,
                    .rule = {},
                    .reason = {},
                    .would_grant = {},
                    .layer = layer.name,
                    .other_rules = 0};
  if (verdict.rule != nullptr) {
    decision.rule = verdict.target->rule_text;
    decision.place = verdict.target->place;
    const auto& because = verdict.rule->clauses.because;
    decision.reason =
        verdict.effect == Effect::kAsk ? "it needs an approval" : "it is denied by a rule";
    if (because) decision.reason += ": " + printable(*because, 200);
    if (const auto left = caught_by_default(*verdict.target, verdict.effect, call); !left.empty())
      decision.reason += fmt::format(
          "; {} is left out, and the server may take it for a default of its schema: say it",
          printable(left, 100));
    return decision;
  }
  const Nearest nearest = nearest_rule(layer, call, times);
  decision.rule = nearest.rule;
  decision.place = nearest.place;
  decision.other_rules = nearest.others;
  decision.reason = nearest.rule.empty()
                        ? fmt::format("nothing in {} allows {}", layer.name, call.permission.text())
                        : nearest.why;
  decision.used_up = nearest.used_up;
  // A --grant is of use only where the run's own layer is what refuses; and one without the limit
  // that is used up is not what its user wants.
  if (index == 0 && !nearest.used_up) decision.would_grant = grant_for(call);
  return decision;
}

Decision Authority::Impl::judge(const Permission& permission, const Json& arguments,
                                const Times& times, std::span<const AskRule> approved,
                                std::vector<Verdict>& verdicts) const {
  Decision decision;
  if (!knows(permission)) {
    decision.reason = "the lock has no such tool";
    decision.layer = "lock";
    return decision;
  }
  if (layers.empty() || !arguments.is_object()) {
    decision.reason = "nothing is granted";
    return decision;
  }
  const CallUnderTest call = under_test(permission, arguments);
  std::size_t strictest = 0;
  for (const auto& layer : layers) {
    verdicts.push_back(decide_layer(layer, call, times, approved));
    if (asked_too_much()) return decision;
    if (verdicts.back().effect > verdicts[strictest].effect) strictest = verdicts.size() - 1;
  }
  const Verdict& verdict = verdicts[strictest];
  if (verdict.effect != Effect::kAllow) {
    Decision refused = refusal(strictest, verdict, call, times);
    // No --grant helps against a layer above the run's own.
    const auto above = std::span(verdicts).subspan(1);
    if (std::ranges::any_of(above, [](const Verdict& v) { return v.effect != Effect::kAllow; })) {
      refused.would_grant.clear();
    }
    if (refused.effect == Effect::kAsk) {
      for (const auto& layer : layers)
        std::ranges::move(asking(layer, call, times), std::back_inserter(refused.asks));
    }
    return refused;
  }
  decision.effect = Effect::kAllow;
  decision.rule = verdict.target->rule_text;
  decision.place = verdict.target->place;
  decision.layer = layers[strictest].name;
  return decision;
}

void Authority::Impl::explain(const Permission& permission, const Json& arguments,
                              const Times& times, const std::vector<Verdict>& verdicts,
                              Explanation& found) const {
  const CallUnderTest call = under_test(permission, arguments);
  found.layers.clear();
  for (std::size_t i = 0; i < verdicts.size(); ++i)
    found.layers.push_back(explain_layer(layers[i], verdicts[i], call, times));
  found.paths = path_reading(layers, permission, environment);
}

}  // namespace mcpac::policy
