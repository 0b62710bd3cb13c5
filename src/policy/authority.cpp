#include "policy/authority.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/canonical_urls.h"
#include "policy/compare_layers.h"
#include "policy/compare_places.h"
#include "policy/decide.h"
#include "policy/decide_places.h"
#include "policy/declared_standing.h"
#include "policy/explain.h"
#include "policy/find_evidence.h"
#include "policy/foresee.h"
#include "policy/load.h"
#include "policy/path_facts.h"
#include "policy/reservations.h"
#include "policy/would_grant.h"

namespace mcpac::policy {

struct Authority::Impl {
  Environment environment;
  std::unique_ptr<PathWitness> witness;  // in the place of the resolver that was given
  std::vector<PathFact> loaded_paths;
  std::vector<CompiledLayer> layers;
  std::optional<std::chrono::steady_clock::time_point> start;
  Reservations reservations;
  bool weighs_arguments = false;  // some rule limits `bytes out`

  [[nodiscard]] Times now() const;
  [[nodiscard]] const Json* schema_of(const Permission& permission) const;
  [[nodiscard]] bool knows(const Permission& permission) const {
    return schema_of(permission) != nullptr || is_control(permission);
  }
  [[nodiscard]] CallUnderTest under_test(const Permission& permission,
                                         const Json& arguments) const {
    return {.permission = permission,
            .arguments = arguments,
            .schema = schema_of(permission),
            .demand = demand_of(permission, arguments)};
  }
  [[nodiscard]] Demand demand_of(const Permission& permission, const Json& arguments) const;
  void reserve(const std::vector<Verdict>& verdicts, const Times& times, const Demand& demand,
               Decision& decision);
  [[nodiscard]] Decision refusal(std::size_t layer, const Verdict& verdict,
                                 const CallUnderTest& call, const Times& times) const;
  // The answer of all layers, with nothing charged; `verdicts` stays empty where no rule was asked.
  [[nodiscard]] Decision judge(const Permission& permission, const Json& arguments,
                               const Times& times, std::span<const AskRule> approved,
                               std::vector<Verdict>& verdicts) const;
  void explain(const Permission& permission, const Json& arguments, const Times& times,
               const std::vector<Verdict>& verdicts, Explanation& found) const;
};

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
    return decision;
  }
  const Nearest nearest = nearest_rule(layer, call, times);
  decision.rule = nearest.rule;
  decision.place = nearest.place;
  decision.other_rules = nearest.others;
  decision.reason = nearest.rule.empty()
                        ? fmt::format("nothing in {} allows {}", layer.name, call.permission.text())
                        : nearest.why;
  // A --grant is of use only where the run's own layer is what refuses.
  if (index == 0) decision.would_grant = grant_for(call);
  return decision;
}

Result<Authority> Authority::load(const std::vector<LayerText>& texts,
                                  const Environment& environment) {
  if (environment.tools == nullptr)
    return fail(ErrorId::kInternal, "an authority needs the tools of the lock");
  auto impl = std::make_unique<Impl>();
  impl->environment = environment;
  if (environment.clock != nullptr) impl->start = environment.clock->steady_now();
  if (environment.resolver != nullptr) {
    impl->witness = std::make_unique<PathWitness>(*environment.resolver);
    impl->witness->note_in(&impl->loaded_paths);
    impl->environment.resolver = impl->witness.get();
  }
  for (const auto& text : texts) {
    auto layer = load_layer(text, impl->environment);
    if (!layer) return pass_on(layer);
    for (const auto& rule : layer->rules)
      impl->weighs_arguments = impl->weighs_arguments || rule.clauses.bytes_out.has_value();
    impl->layers.push_back(std::move(*layer));
  }
  if (impl->witness) impl->witness->note_in(nullptr);
  return Authority(std::move(impl));
}

Authority::Authority(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Authority::Authority(Authority&&) noexcept = default;
Authority& Authority::operator=(Authority&&) noexcept = default;
Authority::~Authority() = default;

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

std::optional<SchemaViolation> Authority::complete(const Permission& permission,
                                                   const JsonSchema& schema,
                                                   Json& arguments) const {
  return policy::complete(impl_->layers, permission, schema, arguments);
}

Decision Authority::decide(const Permission& permission, const Json& arguments, Explanation* found,
                           std::span<const AskRule> approved) {
  const Times times = impl_->now();
  std::vector<Verdict> verdicts;
  Decision decision = impl_->judge(permission, arguments, times, approved, verdicts);
  if (found != nullptr) {
    impl_->explain(permission, arguments, times, verdicts, *found);
    found->decision = decision;
  }
  if (decision.allowed())
    impl_->reserve(verdicts, times, impl_->demand_of(permission, arguments), decision);
  return decision;
}

Decision Authority::decide(const Permission& permission, const Json& arguments,
                           std::span<const AskRule> approved, Evidence& evidence) {
  const Times times = impl_->now();
  std::vector<Verdict> verdicts;
  const bool keeps_paths = impl_->witness && audit_level(permission) == AuditLevel::kArgs;
  if (keeps_paths) impl_->witness->note_in(&evidence.paths);
  Decision decision = impl_->judge(permission, arguments, times, approved, verdicts);
  const CallUnderTest call = impl_->under_test(permission, arguments);
  find_evidence(impl_->layers, verdicts, call, times, evidence);
  if (keeps_paths) impl_->witness->note_in(nullptr);
  if (decision.allowed()) impl_->reserve(verdicts, times, call.demand, decision);
  return decision;
}

AuditLevel Authority::audit_level(const Permission& permission) const {
  return policy::audit_level(impl_->layers, permission);
}

const std::vector<PathFact>& Authority::loaded_paths() const {
  return impl_->loaded_paths;
}

bool Authority::weighs_arguments(const Permission& permission) const {
  return policy::weighs_arguments(impl_->layers, permission);
}

std::vector<MeterReading> Authority::meter_readings(const Permission& permission) const {
  return policy::meter_readings(impl_->layers, permission, impl_->now());
}

std::uint64_t Authority::charge_again(const Evidence& then) {
  std::vector<Verdict> verdicts;
  for (std::size_t i = 0; i < then.layers.size() && i < impl_->layers.size(); ++i) {
    Verdict verdict;
    const std::size_t rules = impl_->layers[i].rules.size();
    std::ranges::copy_if(then.layers[i].charged, std::back_inserter(verdict.metered),
                         [rules](std::size_t rule) { return rule < rules; });
    verdict.unmetered = then.layers[i].unmetered;
    verdicts.push_back(std::move(verdict));
  }
  Decision decision;
  impl_->reserve(verdicts, impl_->now(), {.bytes_out = then.bytes_out, .cost = then.cost},
                 decision);
  return decision.reservation;
}

Decision Authority::decide_as_of(const std::vector<MeterReading>& then,
                                 const Permission& permission, const Json& arguments,
                                 Evidence& evidence) {
  const Times times = impl_->now();
  std::vector<std::pair<Usage*, Usage>> kept;
  for (const auto& reading : then) {
    if (reading.layer >= impl_->layers.size() ||
        reading.rule >= impl_->layers[reading.layer].rules.size())
      continue;
    Usage& used = impl_->layers[reading.layer].rules[reading.rule].used;
    kept.emplace_back(&used, used);
    used = usage_of(reading, times);
  }
  Decision decision = decide(permission, arguments, {}, evidence);
  if (decision.reservation != 0) give_back(std::exchange(decision.reservation, 0));
  for (auto& [used, before] : kept) *used = std::move(before);
  return decision;
}

Explanation Authority::explain(const Permission& permission, const Json& arguments) const {
  const Times times = impl_->now();
  std::vector<Verdict> verdicts;
  Explanation found;
  found.decision = impl_->judge(permission, arguments, times, {}, verdicts);
  impl_->explain(permission, arguments, times, verdicts, found);
  return found;
}

void Authority::give_back(std::uint64_t id) {
  impl_->reservations.give_back(impl_->layers, id);
}

bool Authority::settle(std::uint64_t id, std::uint64_t result_bytes) {
  return impl_->reservations.settle(impl_->layers, id, result_bytes);
}

DeclaredStanding Authority::standing(const Permission& permission, std::string_view where) const {
  if (const auto kind = place_kind_of(permission.text())) {
    const bool granted = !place_refusal(*kind) && where.empty();
    return {.coverage = granted ? Coverage::kCovered : Coverage::kMissing};
  }
  if (!impl_->knows(permission)) return {};
  return declared_standing(impl_->layers, permission, where, impl_->environment);
}

Foresight Authority::foresee(const Permission& permission, const CallInSource& call) const {
  if (const auto kind = place_kind_of(permission.text())) {
    Foresight places;
    const auto refusal = place_refusal(*kind);
    if (!refusal) {
      places.outlook = Outlook::kCovered;
      return places;
    }
    places.reason = refusal->why;
    places.layer = refusal->layer;
    return places;
  }
  if (impl_->knows(permission)) {
    auto foresight = foresee_layers(impl_->layers, permission, call, impl_->schema_of(permission));
    // Constants that the tool's schema refuses would make a rule that is refused, too.
    if (!loads_as_grant(foresight.would_grant, impl_->environment)) foresight.would_grant.clear();
    return foresight;
  }
  Foresight unknown;
  unknown.reason = "the lock has no such tool";
  unknown.layer = "lock";
  return unknown;
}

Inclusion Authority::includes(const Authority& narrower, const InclusionBudget& budget) const {
  auto answer = layers_include(impl_->layers, narrower.impl_->layers, impl_->environment,
                               narrower.impl_->environment, budget);
  for (auto& place : places_beyond(impl_->layers, narrower.impl_->layers)) {
    if (std::holds_alternative<Excess>(answer)) break;
    if (std::holds_alternative<Included>(answer) || std::holds_alternative<Excess>(place))
      answer = std::move(place);
  }
  return answer;
}

std::vector<Inclusion> Authority::beyond(const Authority& narrower,
                                         const InclusionBudget& budget) const {
  auto beyond = layers_beyond(impl_->layers, narrower.impl_->layers, impl_->environment,
                              narrower.impl_->environment, budget);
  for (auto& place : places_beyond(impl_->layers, narrower.impl_->layers))
    beyond.push_back(std::move(place));
  return beyond;
}

std::vector<Permission> Authority::named_tools() const {
  std::vector<Permission> named;
  if (impl_->layers.empty()) return named;
  const auto& run = impl_->layers.front();
  for (const auto& [permission, targets] : run.by_tool) {
    const bool granted = std::ranges::any_of(
        targets, [&](const auto& t) { return run.rules[t.rule].effect != Effect::kDeny; });
    if (granted && !is_control(permission)) named.push_back(permission);
  }
  return named;
}

const Bases& Authority::bases() const {
  return impl_->environment.bases;
}

const std::map<Permission, Money>& Authority::prices() const {
  return impl_->environment.prices;
}

std::vector<FilePlace> Authority::files() const {
  return files_of(impl_->layers);
}

std::vector<NetworkPlace> Authority::networks() const {
  std::vector<NetworkPlace> networks;
  for (const auto& place : networks_of(impl_->layers))
    networks.push_back({place.host, place.port, place.said_in});
  return networks;
}

std::optional<PlaceRefusal> Authority::place_refusal(PlaceKind kind) const {
  return refusal_of(impl_->layers, kind);
}

DeclaredPlaces Authority::named_places() const {
  if (impl_->layers.empty()) return {};
  const auto& run = impl_->layers.front().places;
  return {.files = !run.files.empty(), .network = !run.networks.empty()};
}

NetworkAnswer Authority::decide_network(std::string_view host, std::uint16_t port) const {
  return policy::decide_network(impl_->layers, host, port);
}

NetworkAnswer Authority::decide_address(std::string_view host, const IpAddress& address,
                                        std::uint16_t port) const {
  return policy::decide_address(impl_->layers, host, address, port);
}

std::vector<RuleMeters> Authority::meters() const {
  std::vector<RuleMeters> all;
  const Times times = impl_->now();
  for (const auto& layer : impl_->layers) {
    for (const auto& rule : layer.rules) {
      if (rule.is_limited()) all.push_back({layer.name, rule.text, meters_of(rule, times)});
    }
  }
  return all;
}

std::string Authority::print() const {
  std::string text;
  for (const auto& layer : impl_->layers) {
    for (const auto& rule : layer.rules) text += rule.text + "\n";
    for (const auto& place : layer.places.statements) text += place.text + "\n";
  }
  return text;
}

std::vector<LayerRules> Authority::layers() const {
  std::vector<LayerRules> layers;
  for (const auto& layer : impl_->layers) {
    LayerRules rules{
        .name = layer.name, .rules = {}, .places = {}, .declared = layer.places.declared};
    for (const auto& rule : layer.rules)
      rules.rules.push_back({rule.text, rule.place, rule.effect});
    for (const auto& place : layer.places.statements)
      rules.places.push_back({place.text, place.said_in});
    layers.push_back(std::move(rules));
  }
  return layers;
}

}  // namespace mcpac::policy
