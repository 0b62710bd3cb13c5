// SPDX-License-Identifier: Apache-2.0

#include "policy/authority_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/shell_quote.h"
#include "policy/decide/decide.h"
#include "policy/explain/entry_only.h"
#include "policy/explain/would_grant.h"
#include "policy/explanation.h"

namespace mcpac::policy {
namespace {

// Explain: the layers of an authority applied to one call, rule by rule.

// What one layer says of the call: `verdict` is what decide_layer answered.
[[nodiscard]] LayerExplanation explain_layer(const CompiledLayer& layer, const Verdict& verdict,
                                             const CallUnderTest& call, const Times& times);

// How path tests of the layers read the strings of this call; nothing where none speaks of the
// tool.
[[nodiscard]] std::optional<PathReading> path_reading(const std::vector<CompiledLayer>& layers,
                                                      const Permission& permission,
                                                      const Environment& environment);

bool tests_a_path(const CompiledTarget& target) {
  return target.brackets && std::ranges::any_of(target.brackets->args, [](const CompiledArg& arg) {
           return std::ranges::any_of(arg.tests, [](const ast::Test& test) {
             return std::holds_alternative<ast::PathTest>(test.body);
           });
         });
}

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

}  // namespace

Reservations::Held Reservations::charge(std::vector<CompiledLayer>& layers,
                                        const std::vector<Verdict>& verdicts, const Times& times,
                                        const Demand& demand) {
  if (std::ranges::all_of(verdicts, [](const Verdict& v) { return v.metered.empty(); })) return {};
  Held held{.id = ++last_, .counts_result = false};
  Reservation reservation{.layers = {}, .times = times, .demand = demand};
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    for (const std::size_t index : verdicts[i].metered) {
      auto& rule = layers[i].rules[index];
      policy::charge(rule, times, demand);
      held.counts_result = held.counts_result || rule.clauses.bytes_in.has_value();
    }
    reservation.layers.push_back({verdicts[i].metered, verdicts[i].unmetered});
  }
  in_flight_.emplace(held.id, std::move(reservation));
  return held;
}

void Reservations::give_back(std::vector<CompiledLayer>& layers, std::uint64_t id) {
  const auto held = in_flight_.extract(id);
  if (held.empty()) return;
  const auto& reservation = held.mapped();
  for (std::size_t i = 0; i < reservation.layers.size(); ++i) {
    for (const std::size_t index : reservation.layers[i].rules)
      policy::give_back(layers[i].rules[index], reservation.times, reservation.demand);
  }
}

bool Reservations::settle(std::vector<CompiledLayer>& layers, std::uint64_t id,
                          std::uint64_t result_bytes) {
  const auto held = in_flight_.extract(id);
  if (held.empty()) return true;
  bool delivered = true;
  const auto& charged = held.mapped().layers;
  for (std::size_t i = 0; i < charged.size(); ++i) {
    // One rule that lets the call through is enough, as when it was decided.
    bool passes = charged[i].rules.empty() || charged[i].unmetered;
    for (const std::size_t index : charged[i].rules) {
      const bool fits = charge_result(layers[i].rules[index], result_bytes);
      passes = passes || fits;
    }
    delivered = delivered && passes;
  }
  return delivered;
}

namespace {

// Why a grant is of no use: what refuses beside it, and by which rule.
std::string refused_as_well(const Decision& above) {
  return fmt::format("{} refuses it as well: {}", place_or_layer(above.place, above.layer),
                     above.reason);
}

// Most schemas need not be compiled for it.
bool has_defaults(const Json& schema) {
  if (!schema.is_structured()) return false;
  if (schema.is_object() && schema.contains("default")) return true;
  return std::ranges::any_of(schema, has_defaults);
}

// Behind a remark: what to do about a folder that is above a denied or excepted place.
std::string what_helps(const std::string& remark, const CallUnderTest& call) {
  const bool is_above = remark.contains(" contains the denied ") ||
                        remark.contains(" contains what is excepted") ||
                        remark.contains(" may name more paths ");
  return is_above ? what_to_do_above(call.permission, call.schema) : std::string();
}

}  // namespace

std::string place_or_layer(const std::string& place, const std::string& layer) {
  return place.empty() ? layer : place;
}

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

const SchemaDefaults* Authority::Impl::defaults_of(const Json& schema) const {
  const auto [at, is_new] = defaults.try_emplace(&schema, nullptr);
  if (is_new && has_defaults(schema)) {
    // One that does not compile has no calls. Patterns may be left to its server.
    if (auto compiled = JsonSchema::compile(schema, UncheckablePatterns::kLeave))
      at->second = std::make_unique<const SchemaDefaults>(std::move(*compiled), &schema);
  }
  return at->second.get();
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
    if (const std::string remark = remark_on(*verdict.target, call, Reading::kCatch);
        !remark.empty()) {
      decision.remark = remark + what_helps(remark, call);
    }
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
  decision.ended = nearest.ended;
  // No grant of the very value: what it holds is excepted by the user's own rule.
  for (const auto* target : covering(layer, call.permission)) {
    if (layer.rules[target->rule].effect != Effect::kAllow) continue;
    if (const auto remark = remark_on(*target, call, Reading::kAdmit); !remark.empty()) {
      decision.remark = remark + what_helps(remark, call);
      break;
    }
  }
  return decision;
}

std::vector<AskRule> Authority::Impl::asking_from(std::size_t first, const CallUnderTest& call,
                                                  const Times& times,
                                                  const std::vector<Verdict>& verdicts) const {
  std::vector<AskRule> rules;
  for (std::size_t i = first; i < layers.size(); ++i) {
    // A layer that admits the call asks about nothing: an `otherwise` is about the rest.
    if (verdicts[i].effect == Effect::kAsk)
      std::ranges::move(asking(layers[i], call, times), std::back_inserter(rules));
  }
  return rules;
}

std::optional<Decision> Authority::Impl::refusal_above(const CallUnderTest& call,
                                                       const Times& times,
                                                       const std::vector<Verdict>& verdicts) const {
  if (verdicts.empty() || verdicts.front().effect != Effect::kDeny ||
      verdicts.front().rule != nullptr)
    return std::nullopt;
  for (std::size_t i = 1; i < verdicts.size(); ++i) {
    if (verdicts[i].effect == Effect::kDeny) return refusal(i, verdicts[i], call, times);
  }
  return std::nullopt;
}

void Authority::Impl::lift(const CallUnderTest& call, const Times& times,
                           const std::vector<Verdict>& verdicts, Decision& decision) const {
  if (!decision.only_ungranted) {
    // What is lifted is not what refuses it.
    if (auto above = refusal_above(call, times, verdicts)) decision = *std::move(above);
    return;
  }
  decision.asks = asking_from(1, call, times, verdicts);
  if (decision.asks.empty()) {
    decision.lifted = true;
    return;
  }
  decision.effect = Effect::kAsk;
  decision.layer = decision.asks.front().layer;
  decision.rule = decision.asks.front().rule;
  decision.place.clear();
  decision.reason = "it needs an approval";
}

Decision Authority::Impl::judge(const CallUnderTest& call, const Times& times,
                                std::span<const AskRule> approved,
                                std::vector<Verdict>& verdicts) const {
  Decision decision;
  if (!knows(call.permission)) {
    decision.reason = "the lock has no such tool";
    decision.layer = "lock";
    return decision;
  }
  if (layers.empty() || !call.arguments.is_object()) {
    decision.reason = "nothing is granted";
    return decision;
  }
  std::size_t strictest = 0;
  for (const auto& layer : layers) {
    verdicts.push_back(decide_layer(layer, call, times, approved));
    if (asked_too_much()) return decision;
    if (verdicts.back().effect > verdicts[strictest].effect) strictest = verdicts.size() - 1;
  }
  const Verdict& verdict = verdicts[strictest];
  if (verdict.effect != Effect::kAllow) {
    Decision refused = refusal(strictest, verdict, call, times);
    const auto above = std::span(verdicts).subspan(1);
    const Verdict& own = verdicts.front();
    const bool is_open =
        own.effect == Effect::kAsk || (own.effect == Effect::kDeny && own.rule == nullptr);
    refused.only_ungranted = is_open && std::ranges::none_of(above, [](const Verdict& v) {
                               return v.effect == Effect::kDeny;
                             });
    if (refused.effect == Effect::kAsk) refused.asks = asking_from(0, call, times, verdicts);
    return refused;
  }
  decision.effect = Effect::kAllow;
  decision.rule = verdict.target->rule_text;
  decision.place = verdict.target->place;
  decision.layer = layers[strictest].name;
  return decision;
}

// A --grant is of use only where the run's own layer is what refuses, by no rule; and one without
// the limit that is used up is not what its user wants.
void Authority::Impl::add_fix(const CallUnderTest& call, const Times& times,
                              Decision& decision) const {
  if (decision.effect != Effect::kDeny || decision.too_large || layers.empty()) return;
  if (!decision.only_ungranted) {
    begin_paths();
    std::vector<Verdict> verdicts;
    for (const auto& layer : layers) verdicts.push_back(decide_layer(layer, call, times, {}));
    const auto above = refusal_above(call, times, verdicts);
    static_cast<void>(end_paths());
    if (above) decision.no_grant = refused_as_well(*above);
    return;
  }
  if (decision.used_up) return;
  begin_paths();
  Fix fix = fix_for(layers.front(), call, times, environment);
  static_cast<void>(end_paths());
  if (asked_too_much()) fix = {.would_grant = {}, .no_grant = "its paths are too many to look up"};
  decision.would_grant = std::move(fix.would_grant);
  decision.no_grant = std::move(fix.no_grant);
}

void Authority::Impl::explain(const CallUnderTest& call, const Times& times,
                              const std::vector<Verdict>& verdicts, Explanation& found) const {
  found.layers.clear();
  for (std::size_t i = 0; i < verdicts.size(); ++i)
    found.layers.push_back(explain_layer(layers[i], verdicts[i], call, times));
  found.paths = path_reading(layers, call.permission, environment);
}

void Authority::Impl::settle_root(const Permission& permission, const Json& arguments,
                                  Explanation& found) const {
  Decision& decision = found.decision;
  if (!found.paths || decision.effect != Effect::kDeny || found.paths->has_root ||
      found.paths->lexical_only || !decision.rule.starts_with("allow ") || decision.used_up)
    return;
  const std::string& server = permission.server();
  std::vector<std::string> folders = found.paths->further_bases;
  const bool is_unclear = !folders.empty() || found.paths->is_unknown;
  if (!found.paths->is_unknown) folders.push_back(found.paths->admit_base);
  enum class Others : std::uint8_t { kGiven, kNone };
  const auto admits_from = [&](const std::string& folder, Others others) {
    Environment then = environment;
    then.bases.roots[server] = folder;
    auto& given = then.bases.given_folders[server];
    std::erase(given, folder);
    if (given.empty() || others == Others::kNone) then.bases.given_folders.erase(server);
    LayerText layer{.name = decision.layer, .grants = {}, .asks = {}, .denies = {}, .files = {}};
    layer.files.emplace_back(decision.rule, decision.layer);
    auto authority = Authority::load({std::move(layer)}, then);
    Evidence evidence;
    return authority && authority->decide(permission, arguments, {}, evidence).allowed();
  };
  const auto settles = std::ranges::find_if(
      folders, [&](const auto& folder) { return admits_from(folder, Others::kGiven); });
  if (settles != folders.end()) found.paths->settling_root = *settles;
  if (!is_unclear) return;
  if (settles != folders.end()) {
    decision.no_grant = fmt::format(
        "its relative path is read in several ways, of which the rule admits one: "
        "mcpac server set {} --root {}",
        printable(server), shell_quoted(*settles));
  } else if (std::ranges::any_of(
                 folders, [&](const auto& folder) { return admits_from(folder, Others::kNone); })) {
    decision.no_grant =
        "its relative path is read in several ways, of which the rule admits one, and no root "
        "settles it: the call needs the absolute path";
  } else if (!found.paths->is_unknown) {
    decision.no_grant =
        "its relative path is read in several ways, and the rule admits none of them: the call "
        "needs an absolute path, of a place that a rule admits";
  } else {
    return;
  }
  found.paths->is_ambiguous = true;
  decision.would_grant.clear();
}

}  // namespace mcpac::policy
