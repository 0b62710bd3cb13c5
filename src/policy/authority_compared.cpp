// An authority beside what a program declares or calls, and beside another authority.
#include <algorithm>

#include "policy/authority_state.h"
#include "policy/compare/compare_layers.h"
#include "policy/compare/compare_places.h"
#include "policy/compare/declared_standing.h"
#include "policy/explain/foresee.h"
#include "policy/explain/lint.h"
#include "policy/explain/would_grant.h"

namespace mcpac::policy {

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
