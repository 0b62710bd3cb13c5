#include "policy/authority.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "policy/compare_layers.h"
#include "policy/decide.h"
#include "policy/foresee.h"
#include "policy/load.h"
#include "policy/parser.h"
#include "policy/path_pattern.h"
#include "policy/printer.h"
#include "policy/would_grant.h"

namespace mcpac::policy {

struct Authority::Impl {
  struct Charge {
    std::size_t layer;
    std::size_t rule;
    std::optional<std::chrono::steady_clock::time_point> at;
  };

  Environment environment;
  std::vector<CompiledLayer> layers;
  std::optional<std::chrono::steady_clock::time_point> start;
  // What the last decision reserved, and for which call: give_back() undoes exactly that.
  std::vector<Charge> last_charges;
  std::optional<Permission> last_permission;

  [[nodiscard]] Times now() const;
  [[nodiscard]] const Json* schema_of(const Permission& permission) const;
  [[nodiscard]] bool knows(const Permission& permission) const {
    return schema_of(permission) != nullptr || is_control(permission);
  }
  void charge(std::size_t layer, const std::vector<std::size_t>& rules, const Times& times);
  void undo(const Charge& charge);
  [[nodiscard]] Decision refusal(std::size_t layer, const Verdict& verdict,
                                 const CallUnderTest& call, const Times& times) const;
  [[nodiscard]] Coverage coverage_in(const CompiledLayer& layer, const Permission& permission,
                                     const std::string& declared) const;
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

void Authority::Impl::charge(std::size_t layer, const std::vector<std::size_t>& rules,
                             const Times& times) {
  for (const std::size_t index : rules) {
    auto& rule = layers[layer].rules[index];
    ++rule.calls_used;
    if (rule.clauses.rate && times.steady) {
      while (!rule.recent.empty() && *times.steady - rule.recent.front() >= rule.clauses.rate->unit)
        rule.recent.pop_front();
      rule.recent.push_back(*times.steady);
    }
    last_charges.push_back({layer, index, times.steady});
  }
}

void Authority::Impl::undo(const Charge& charge) {
  auto& rule = layers[charge.layer].rules[charge.rule];
  --rule.calls_used;
  const auto entry = charge.at ? std::ranges::find(rule.recent, *charge.at) : rule.recent.end();
  if (entry != rule.recent.end()) rule.recent.erase(entry);
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
    const auto& because = verdict.rule->clauses.because;
    decision.reason =
        verdict.effect == Effect::kAsk ? "it needs an approval" : "it is denied by a rule";
    if (because) decision.reason += ": " + printable(*because, 200);
    return decision;
  }
  const Nearest nearest = nearest_rule(layer, call, times);
  decision.rule = nearest.rule;
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
  for (const auto& text : texts) {
    auto layer = load_layer(text, impl->environment);
    if (!layer) return pass_on(layer);
    impl->layers.push_back(std::move(*layer));
  }
  return Authority(std::move(impl));
}

Authority::Authority(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Authority::Authority(Authority&&) noexcept = default;
Authority& Authority::operator=(Authority&&) noexcept = default;
Authority::~Authority() = default;

Decision Authority::decide(const Permission& permission, const Json& arguments) {
  impl_->last_charges.clear();
  impl_->last_permission = permission;
  const CallUnderTest call{permission, arguments, impl_->schema_of(permission)};
  if (!impl_->knows(permission)) {
    return {.effect = Effect::kDeny,
            .rule = {},
            .reason = "the lock has no such tool",
            .would_grant = {},
            .layer = "lock",
            .other_rules = 0};
  }
  if (impl_->layers.empty() || !arguments.is_object()) {
    return {.effect = Effect::kDeny,
            .rule = {},
            .reason = "nothing is granted",
            .would_grant = {},
            .layer = {},
            .other_rules = 0};
  }
  const Times times = impl_->now();
  std::vector<Verdict> verdicts;
  std::size_t strictest = 0;
  for (const auto& layer : impl_->layers) {
    verdicts.push_back(decide_layer(layer, call, times));
    if (verdicts.back().effect > verdicts[strictest].effect) strictest = verdicts.size() - 1;
  }
  const Verdict& verdict = verdicts[strictest];
  if (verdict.effect != Effect::kAllow) {
    Decision refused = impl_->refusal(strictest, verdict, call, times);
    // No --grant helps against a layer above the run's own.
    const auto above = std::span(verdicts).subspan(1);
    if (std::ranges::any_of(above, [](const Verdict& v) { return v.effect != Effect::kAllow; })) {
      refused.would_grant.clear();
    }
    return refused;
  }
  for (std::size_t i = 0; i < verdicts.size(); ++i) impl_->charge(i, verdicts[i].metered, times);
  return {.effect = Effect::kAllow,
          .rule = verdict.target->rule_text,
          .reason = {},
          .would_grant = {},
          .layer = impl_->layers[strictest].name,
          .other_rules = 0};
}

void Authority::give_back(const Permission& permission, const Json&) {
  if (impl_->last_permission != permission) return;
  for (const auto& charge : impl_->last_charges) impl_->undo(charge);
  impl_->last_charges.clear();
}

namespace {

// The brackets of a declared permission in canonical spelling; nothing where they do not load.
std::optional<std::string> declared_text(const Permission& permission, std::string_view where,
                                         const Environment& environment) {
  const SourceText source{"where", where};
  auto brackets = parse_brackets(source);
  if (!brackets) return std::nullopt;
  ast::Rule rule;
  rule.targets.push_back({.selector = {.server = permission.server(), .tool = permission.tool()},
                          .brackets = std::move(*brackets)});
  CompiledLayer scratch;
  if (!Loader{environment, scratch}.add(rule, source)) return std::nullopt;
  return print(rule.targets.front());
}

bool loads(const std::string& grant, const Environment& environment) {
  const SourceText source{"a grant", grant};
  const auto rule = parse_rule(source, Effect::kAllow);
  CompiledLayer scratch;
  return rule && Loader{environment, scratch}.add(*rule, source);
}

}  // namespace

Coverage Authority::Impl::coverage_in(const CompiledLayer& layer, const Permission& permission,
                                      const std::string& declared) const {
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

Coverage Authority::coverage(const Permission& permission, std::string_view where) const {
  if (!impl_->knows(permission) || impl_->layers.empty()) return Coverage::kMissing;
  std::string declared;
  if (!where.empty()) {
    auto text = declared_text(permission, where, impl_->environment);
    if (!text) return Coverage::kMissing;
    declared = std::move(*text);
  }
  Coverage worst = Coverage::kCovered;
  for (const auto& layer : impl_->layers)
    worst = std::max(worst, impl_->coverage_in(layer, permission, declared));
  return worst;
}

Foresight Authority::foresee(const Permission& permission, const CallInSource& call) const {
  if (impl_->knows(permission)) {
    auto foresight = foresee_layers(impl_->layers, permission, call, impl_->schema_of(permission));
    // Constants that the tool's schema refuses would make a rule that is refused, too.
    if (!loads(foresight.would_grant, impl_->environment)) foresight.would_grant.clear();
    return foresight;
  }
  Foresight unknown;
  unknown.reason = "the lock has no such tool";
  unknown.layer = "lock";
  return unknown;
}

Inclusion Authority::includes(const Authority& narrower, const InclusionBudget& budget) const {
  return layers_include(impl_->layers, narrower.impl_->layers, impl_->environment,
                        narrower.impl_->environment, budget);
}

std::vector<Inclusion> Authority::beyond(const Authority& narrower,
                                         const InclusionBudget& budget) const {
  return layers_beyond(impl_->layers, narrower.impl_->layers, impl_->environment,
                       narrower.impl_->environment, budget);
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

std::string Authority::print() const {
  std::string text;
  for (const auto& layer : impl_->layers) {
    for (const auto& rule : layer.rules) text += rule.text + "\n";
  }
  return text;
}

}  // namespace mcpac::policy
