// SPDX-License-Identifier: Apache-2.0

// An authority beside what a program declares or calls, and beside another authority.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/authority_state.h"
#include "policy/compare/compare_layers.h"
#include "policy/decide/decide.h"
#include "policy/decide/decide_places.h"
#include "policy/explain/foresee.h"
#include "policy/explain/lint.h"
#include "policy/explain/would_grant.h"
#include "policy/inclusion.h"
#include "policy/rules/compiled.h"
#include "policy/sets/known_strings.h"
#include "policy/standing.h"
#include "policy/text/parser.h"

namespace mcpac::policy {
namespace {

// DeclaredStanding: a program's declaration against the grants, by inclusion.

// `where` is the text of a Narrow, empty for the whole tool. Included in every layer: covered.
// Nothing in common with them: missing, with a declared call that is refused. Else conditional. A
// program waits for this before every run; what takes more is decided call by call. `strings`: what
// was found for other tools of the same environment.
inline constexpr InclusionBudget kStandingBudget{.steps = 1'000'000};
[[nodiscard]] DeclaredStanding declared_standing(const std::vector<CompiledLayer>& layers,
                                                 const Permission& permission,
                                                 std::string_view where,
                                                 const Environment& environment,
                                                 KnownStrings& strings,
                                                 const InclusionBudget& budget = kStandingBudget);

// The declared permission as the one rule of a layer; nothing where it does not load.
std::optional<CompiledLayer> declared_layer(const Permission& permission, std::string_view where,
                                            const Environment& environment) {
  const SourceText source{"where", where};
  ast::Rule rule;
  rule.targets.push_back({.selector = {.server = permission.server(), .tool = permission.tool()},
                          .brackets = std::nullopt});
  if (!where.empty()) {
    auto brackets = parse_brackets(source);
    if (!brackets) return std::nullopt;
    rule.targets.front().brackets = std::move(*brackets);
  }
  CompiledLayer layer;
  layer.name = "declared";
  if (!Loader{environment, layer}.add(rule, source)) return std::nullopt;
  return layer;
}

// What the rules say by their form alone: most programs need no more.
Coverage coverage_in(const CompiledLayer& layer, const Permission& permission,
                     const std::string& declared) {
  Coverage coverage = Coverage::kMissing;
  bool surely = true;
  for (const auto* target : covering(layer, permission)) {
    const auto& rule = layer.rules[target->rule];
    if (rule.effect == Effect::kDeny && target->whole_tool()) return Coverage::kMissing;
    surely = surely && rule.effect == Effect::kAllow;
    if (rule.effect == Effect::kDeny) continue;
    const bool admits_all = rule.effect == Effect::kAllow && !rule.is_limited() &&
                            (target->whole_tool() || target->text == declared);
    if (admits_all) {
      coverage = Coverage::kCovered;
    } else if (coverage == Coverage::kMissing) {
      coverage = Coverage::kConditional;
    }
  }
  return coverage == Coverage::kCovered && !surely ? Coverage::kConditional : coverage;
}

DeclaredStanding declared_standing(const std::vector<CompiledLayer>& layers,
                                   const Permission& permission, std::string_view where,
                                   const Environment& environment, KnownStrings& strings,
                                   const InclusionBudget& budget) {
  if (layers.empty()) return {};
  std::vector<CompiledLayer> declared;
  auto layer = declared_layer(permission, where, environment);
  if (!layer) return {};
  declared.push_back(std::move(*layer));
  const auto& text = covering(declared.front(), permission).front()->text;
  DeclaredStanding standing;
  standing.coverage = Coverage::kCovered;
  for (const auto& granted : layers)
    standing.coverage = std::max(standing.coverage, coverage_in(granted, permission, text));
  if (standing.coverage != Coverage::kConditional) return standing;
  auto relation = relate_tool(layers, declared, permission, environment, budget, strings);
  if (std::holds_alternative<Included>(relation.beyond)) {
    standing.coverage = Coverage::kCovered;
  } else if (!relation.in_common) {
    standing.coverage = Coverage::kMissing;
    if (auto* excess = std::get_if<Excess>(&relation.beyond))
      standing.refused = std::move(excess->arguments);
  }
  standing.steps = relation.steps;
  standing.is_certain = !std::holds_alternative<Undecided>(relation.beyond);
  return standing;
}

}  // namespace

namespace {

// Inclusion of places: files and destinations that one side admits and the other does not.

// Each as a call of mcpac.files {"path", "mode"} or mcpac.network {"host", "port"}, with which the
// wider side was asked. Undecided where no single place of the wider side covers one of the
// narrower, and yet the example is admitted: several may cover it together.
[[nodiscard]] std::vector<Inclusion> places_beyond(const std::vector<CompiledLayer>& wider,
                                                   const std::vector<CompiledLayer>& narrower);

using Layers = std::vector<CompiledLayer>;

Permission permission_of(const char* text) {
  return Permission::parse(text).value();
}

// An example that the place covers, with a port where it leaves that open: an unlikely one, so that
// it stands for all.
struct Destination {
  std::string host;
  std::uint16_t port;
};
constexpr std::uint16_t kSomePort = 61'616;

Destination example_of(const CompiledNetwork& place) {
  const std::uint16_t port = place.port != 0 ? place.port : kSomePort;
  if (const auto* network = std::get_if<IpNetwork>(&place.hosts))
    return {to_text(network->first()), port};
  if (const auto* pattern = std::get_if<HostPattern>(&place.hosts)) {
    if (!pattern->name.empty())
      return {pattern->subdomains ? "any." + pattern->name : pattern->name, port};
  }
  return {"any.example", port};
}

void add_files(const Layers& wider, const Layers& narrower, std::vector<Inclusion>& beyond) {
  const auto outer = compiled_files_of(wider);
  for (const auto& place : compiled_files_of(narrower)) {
    if (std::ranges::any_of(outer, [&](const auto& one) { return covers(one, place); })) continue;
    Excess excess{permission_of(kFilesPermission),
                  {{"path", join(place.written)}, {"mode", to_string(place.mode)}},
                  Effect::kAllow,
                  Effect::kDeny,
                  {}};
    beyond.emplace_back(std::move(excess));
  }
}

void add_networks(const Layers& wider, const Layers& narrower, std::vector<Inclusion>& beyond) {
  const auto outer = networks_of(wider);
  for (const auto& place : networks_of(narrower)) {
    if (std::ranges::any_of(outer, [&](const auto& one) { return covers(one, place); })) continue;
    const auto example = example_of(place);
    if (decide_network(wider, example.host, example.port).allowed ||
        !decide_network(narrower, example.host, example.port).allowed) {
      beyond.emplace_back(
          Undecided{permission_of(kNetworkPermission), "no single place covers " + place.host});
      continue;
    }
    beyond.emplace_back(Excess{permission_of(kNetworkPermission),
                               {{"host", example.host}, {"port", example.port}},
                               Effect::kAllow,
                               Effect::kDeny,
                               {}});
  }
}

std::vector<Inclusion> places_beyond(const Layers& wider, const Layers& narrower) {
  std::vector<Inclusion> beyond;
  add_files(wider, narrower, beyond);
  add_networks(wider, narrower, beyond);
  return beyond;
}

}  // namespace

// Rules over `*` say the same of hundreds of tools. Of what a program narrows nothing is kept: the
// texts would have no end.
DeclaredStanding Authority::Impl::declared(const Permission& permission, std::string_view where,
                                           const InclusionBudget& budget) const {
  KnownStrings own(environment);
  if (where.empty() && !strings) strings = std::make_unique<KnownStrings>(environment);
  return declared_standing(layers, permission, where, environment, where.empty() ? *strings : own,
                           budget);
}

DeclaredStanding Authority::standing(const Permission& permission, std::string_view where) const {
  if (const auto kind = place_kind_of(permission.text())) {
    const bool granted = !place_refusal(*kind) && where.empty();
    return {.coverage = granted ? Coverage::kCovered : Coverage::kMissing};
  }
  if (!impl_->knows(permission)) return {};
  return impl_->declared(permission, where, kStandingBudget);
}

namespace {

// Of reading a rule; and of one step of comparing, which is some 20 ns.
constexpr std::size_t kStepsOfReading = 20'000;
constexpr std::size_t kStepsOfStep = 4;

}  // namespace

Coverage Authority::coverage(const Permission& permission, std::string_view where,
                             Work& work) const {
  if (place_kind_of(permission.text()) || !impl_->knows(permission))
    return coverage(permission, where);
  const std::size_t reading = kStepsOfReading + where.size();
  const bool suffices = work.suffices_for(reading);
  work.spend(reading);
  if (!suffices) return Coverage::kMissing;
  const InclusionBudget budget{std::min(kStandingBudget.steps, work.left() / kStepsOfStep)};
  const auto standing = impl_->declared(permission, where, budget);
  work.spend(standing.steps * kStepsOfStep);
  // What is not certain with all that one question may take is decided when it is called.
  const bool is_cut_short = !standing.is_certain && budget.steps < kStandingBudget.steps;
  return is_cut_short ? Coverage::kMissing : standing.coverage;
}

Outlook Authority::outlook(const Permission& permission, const CallInSource& call,
                           Work& work) const {
  if (place_kind_of(permission.text())) return foresee(permission, call).outlook;
  if (!impl_->knows(permission)) return Outlook::kDenied;
  return outlook_of(impl_->layers, permission, call, impl_->schema_of(permission), work);
}

Foresight Authority::foresee(const Permission& permission, const CallInSource& call,
                             Lifted lifted) const {
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
    auto foresight = foresee_layers(impl_->layers, permission, call, impl_->schema_of(permission),
                                    impl_->environment, lifted);
    if (foresight.would_grant.empty()) return foresight;
    // A rule with the path as it is written is of no use where the path is read in several ways.
    auto found = explain(permission, call.known);
    if (found.paths && found.paths->is_ambiguous) {
      foresight.would_grant.clear();
      foresight.no_grant = std::move(found.decision.no_grant);
    }
    return foresight;
  }
  Foresight unknown;
  unknown.reason = "the lock has no such tool";
  unknown.layer = "lock";
  return unknown;
}

std::vector<std::string> Authority::granted_of(const Permission& permission,
                                               const Json* arguments) const {
  if (impl_->layers.empty() || !impl_->knows(permission)) return {};
  return policy::granted_of(impl_->layers.front(), permission, arguments,
                            impl_->schema_of(permission), impl_->environment);
}

std::vector<AskedAllow> Authority::asked_allows() const {
  return policy::asked_allows(impl_->layers, impl_->environment);
}

LeastRule Authority::least_rule(const Permission& permission, const CallInSource& call,
                                const Authority* beside) const {
  if (beside != nullptr)
    return narrower_of(least_rule(permission, call), beside->least_rule(permission, call),
                       permission, impl_->environment);
  static const CompiledLayer kNothing;
  const auto possible = possible_call(permission, call, impl_->schema_of(permission));
  if (!possible || !impl_->knows(permission)) return {whole_tool(permission), false, false};
  return policy::least_rule(impl_->layers.empty() ? kNothing : impl_->layers.front(), *possible,
                            impl_->environment);
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

}  // namespace mcpac::policy
