// SPDX-License-Identifier: Apache-2.0

#include "policy/authority.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "policy/authority_state.h"
#include "policy/decide/canonical_urls.h"
#include "policy/decide/decide.h"
#include "policy/decide/decide_places.h"
#include "policy/decide/find_evidence.h"
#include "policy/load.h"

namespace mcpac::policy {
namespace {

Decision too_large(std::string reason) {
  Decision decision;
  decision.reason = std::move(reason);
  decision.too_large = true;
  return decision;
}

constexpr const char* kTooManyToAsk =
    "its paths take too long to look up: send fewer of them in a call";
constexpr const char* kTooManyToRecord =
    "a rule wants the call recorded, and where its paths lead is larger than a record: send fewer "
    "of them in a call";

}  // namespace

Result<Authority> Authority::load(const std::vector<LayerText>& texts,
                                  const Environment& environment) {
  if (environment.tools == nullptr)
    return fail(ErrorId::kInternal, "an authority needs the tools of the lock");
  auto impl = std::make_unique<Impl>();
  impl->environment = environment;
  if (environment.clock != nullptr) impl->start = environment.clock->steady_now();
  if (environment.resolver != nullptr) {
    impl->witness = std::make_unique<PathWitness>(*environment.resolver);
    impl->witness->begin({});
    impl->environment.resolver = impl->witness.get();
  }
  for (const auto& text : texts) {
    auto layer = load_layer(text, impl->environment);
    if (!layer) return pass_on(layer);
    for (const auto& rule : layer->rules)
      impl->weighs_arguments = impl->weighs_arguments || rule.clauses.bytes_out.has_value();
    impl->layers.push_back(std::move(*layer));
  }
  if (impl->witness) impl->loaded_paths = impl->witness->take();
  return Authority(std::move(impl));
}

Authority::Authority(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Authority::Authority(Authority&&) noexcept = default;
Authority& Authority::operator=(Authority&&) noexcept = default;
Authority::~Authority() = default;

std::optional<SchemaViolation> Authority::complete(const Permission& permission,
                                                   const JsonSchema& schema,
                                                   Json& arguments) const {
  return policy::complete(impl_->layers, permission, schema, arguments);
}

Decision Authority::decide(const Permission& permission, const Json& arguments, Explanation* found,
                           std::span<const AskRule> approved) {
  const Times times = impl_->now();
  const CallUnderTest call = impl_->under_test(permission, arguments);
  std::vector<Verdict> verdicts;
  impl_->begin_paths();
  Decision decision = impl_->judge(call, times, approved, verdicts);
  if (found != nullptr) impl_->explain(call, times, verdicts, *found);
  static_cast<void>(impl_->end_paths());
  if (impl_->asked_too_much()) decision = too_large(kTooManyToAsk);
  impl_->add_fix(call, times, decision);
  if (found != nullptr) {
    found->decision = decision;
    impl_->settle_root(permission, arguments, *found);
    decision = found->decision;
  }
  if (decision.allowed()) impl_->reserve(verdicts, times, call.demand, decision);
  return decision;
}

Decision Authority::decide(const Permission& permission, const Json& arguments,
                           std::span<const AskRule> approved, Evidence& evidence, Lifted lifted) {
  const Times times = impl_->now();
  const CallUnderTest call = impl_->under_test(permission, arguments);
  std::vector<Verdict> verdicts;
  impl_->begin_paths();
  Decision decision = impl_->judge(call, times, approved, verdicts);
  if (lifted == Lifted::kUngranted) impl_->lift(call, times, verdicts, decision);
  find_evidence(impl_->layers, verdicts, call, times, evidence);
  auto paths = impl_->end_paths();
  // Also where only the words about a denial asked for more: without them it could not be made
  // again from its record.
  if (impl_->asked_too_much()) {
    evidence = {};
    return too_large(kTooManyToAsk);
  }
  if (!paths.empty() && audit_level(permission) == AuditLevel::kArgs) {
    if (!impl_->environment.is_replay && recorded_size(paths) > kMaxPathFactBytes) {
      evidence = {};
      return too_large(kTooManyToRecord);
    }
    evidence.paths = std::move(paths);
  }
  if (decision.allowed() || decision.lifted) impl_->reserve(verdicts, times, call.demand, decision);
  return decision;
}

AuditLevel Authority::audit_level(const Permission& permission) const {
  return policy::audit_level(impl_->layers, permission);
}

Explanation Authority::explain(const Permission& permission, const Json& arguments) const {
  const Times times = impl_->now();
  const CallUnderTest call = impl_->under_test(permission, arguments);
  std::vector<Verdict> verdicts;
  Explanation found;
  impl_->begin_paths();
  found.decision = impl_->judge(call, times, {}, verdicts);
  impl_->explain(call, times, verdicts, found);
  static_cast<void>(impl_->end_paths());
  if (impl_->asked_too_much()) found.decision = too_large(kTooManyToAsk);
  impl_->add_fix(call, times, found.decision);
  impl_->settle_root(permission, arguments, found);
  return found;
}

void Authority::give_back(std::uint64_t id) {
  impl_->reservations.give_back(impl_->layers, id);
}

bool Authority::settle(std::uint64_t id, std::uint64_t result_bytes) {
  return impl_->reservations.settle(impl_->layers, id, result_bytes);
}

NetworkAnswer Authority::decide_network(std::string_view host, std::uint16_t port) const {
  return policy::decide_network(impl_->layers, host, port);
}

NetworkAnswer Authority::decide_address(std::string_view host, const IpAddress& address,
                                        std::uint16_t port, AddressOf whose) const {
  return policy::decide_address(impl_->layers, host, address, port, whose);
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

const std::vector<PathFact>& Authority::loaded_paths() const {
  return impl_->loaded_paths;
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

std::optional<std::string> Authority::network_denied() const {
  for (const auto& layer : impl_->layers) {
    if (layer.places.network_denied_in) return layer.places.network_denied_in;
  }
  return std::nullopt;
}

DeclaredPlaces Authority::named_places() const {
  if (impl_->layers.empty()) return {};
  const auto& run = impl_->layers.front().places;
  return {.files = !run.files.empty(), .network = !run.networks.empty()};
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

std::vector<LayerRules::Rule> Authority::ended_rules() const {
  std::vector<LayerRules::Rule> ended;
  const Times times = impl_->now();
  for (const auto& layer : impl_->layers) {
    for (const auto& rule : layer.rules) {
      if (has_ended(rule, times)) ended.push_back({rule.text, rule.place, rule.effect});
    }
  }
  return ended;
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

std::vector<LayerRules::Rule> Authority::wildcards_over(const Permission& permission) const {
  std::vector<LayerRules::Rule> rules;
  for (const auto& layer : impl_->layers) {
    for (const auto* target : covering(layer, permission)) {
      if (target->is_wildcard)
        rules.push_back({target->rule_text, target->place, layer.rules[target->rule].effect});
    }
  }
  return rules;
}

}  // namespace mcpac::policy
