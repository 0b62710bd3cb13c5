// SPDX-License-Identifier: Apache-2.0

#include "policy/explain/foresee.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/json_schema.h"
#include "policy/decide/canonical_urls.h"
#include "policy/decide/decide.h"
#include "policy/explain/would_grant.h"

namespace mcpac::policy {
namespace {

// Of asking about one call, and of each rule that is held against it, beside its characters.
constexpr std::size_t kStepsOfCall = 2'000;
constexpr std::size_t kStepsOfRule = 200;

std::size_t steps_of(const std::vector<CompiledLayer>& layers, const Permission& permission,
                     const Json& known) {
  std::size_t characters = 0;
  for (const auto& [name, value] : known.items())
    characters += name.size() + (value.is_string() ? value.get_ref<const std::string&>().size()
                                                   : to_text(value).size());
  std::size_t rules = 0;
  for (const auto& layer : layers) rules += covering(layer, permission).size();
  return kStepsOfCall + characters + rules * (kStepsOfRule + characters);
}

// What stands between a call and a certain yes, gathered over the rules of a layer.
struct Obstacles {
  Grounds grounds;
  std::string rule;   // the first that is uncertain
  std::string limit;  // a rule whose meter or time may be over
  bool approval = false;

  void add(const CompiledTarget& by, const Grounds& why) {
    grounds.add(why);
    if (rule.empty()) rule = by.rule_text;
  }
  [[nodiscard]] bool none() const { return rule.empty(); }
};

std::string in_words(const Obstacles& obstacles) {
  std::vector<std::string> parts;
  const auto& arguments = obstacles.grounds.arguments;
  if (!arguments.empty()) {
    std::vector<std::string> names;
    for (const auto& name : arguments) names.push_back(printable(name, 80));
    parts.push_back(fmt::format("the value of {}", fmt::join(names, ", ")));
  }
  if (obstacles.grounds.unread_arguments)
    parts.emplace_back("arguments that cannot be read off the source");
  if (obstacles.grounds.file_system)
    parts.emplace_back("the file system: a link may lead elsewhere");
  if (!obstacles.limit.empty()) parts.emplace_back("how much of a limit is used up");
  if (!obstacles.approval) return fmt::format("depends on {}", fmt::join(parts, ", and on "));
  return parts.empty() ? "asks"
                       : fmt::format("asks, depending on {}", fmt::join(parts, ", and on "));
}

class LayerForesight {
 public:
  LayerForesight(const CompiledLayer& layer, const PossibleCall& call) : layer_(layer) {
    for (const auto* target : covering(layer, call.permission)) {
      const auto& rule = layer.rules[target->rule];
      Grounds grounds;
      const Chance chance = possible_match(*target, rule.effect, call, grounds);
      switch (rule.effect) {
        case Effect::kDeny: on_deny(*target, rule, chance, grounds); break;
        case Effect::kAsk: on_ask(*target, rule, chance, grounds); break;
        case Effect::kAllow: on_allow(*target, rule, chance, grounds); break;
      }
    }
    // An `otherwise` is about what no allow admits.
    if (otherwise_.approval && !is_sure_) {
      is_possible_ = true;
      against_.approval = true;
      if (against_.rule.empty()) against_.rule = otherwise_.rule;
      against_.grounds.add(otherwise_.grounds);
    }
  }

  // Whether a rule says no, where otherwise only nothing says yes.
  [[nodiscard]] bool is_forbidden() const { return denied_by_ != nullptr; }
  [[nodiscard]] bool asks() const { return against_.approval; }
  [[nodiscard]] Outlook outlook() const {
    if (denied_by_ != nullptr || !is_possible_) return Outlook::kDenied;
    return is_sure_ && against_.none() ? Outlook::kCovered : Outlook::kConditional;
  }

  [[nodiscard]] Foresight answer(const Permission& permission) const {
    Foresight foresight;
    foresight.layer = layer_.name;
    foresight.outlook = outlook();
    if (denied_by_ != nullptr) {
      foresight.rule = denying_->rule_text;
      foresight.place = denying_->place;
      foresight.reason = "it is denied by a rule";
      if (const auto& because = denied_by_->clauses.because)
        foresight.reason += ": " + printable(*because, 200);
      return foresight;
    }
    if (!is_possible_) {
      foresight.rule = nearest_;
      foresight.place = nearest_place_;
      foresight.other_rules = misses_ > 0 ? misses_ - 1 : 0;
      foresight.reason = miss_;
      if (!nearest_.empty()) return foresight;
      const auto [left, why] = left_out(layer_, permission);
      if (left != nullptr) {
        foresight.rule = left->rule_text;
        foresight.place = left->place;
      }
      foresight.reason =
          left != nullptr ? why
                          : fmt::format("nothing in {} allows {}", layer_.name, permission.text());
      return foresight;
    }
    if (foresight.outlook == Outlook::kCovered) return foresight;
    // A rule that surely admits leaves only what may be against it.
    Obstacles obstacles = against_;
    if (!is_sure_) {
      obstacles.grounds.add(for_.grounds);
      obstacles.limit = for_.limit;
      if (!for_.none()) obstacles.rule = for_.rule;
    }
    foresight.reason = in_words(obstacles);
    foresight.rule = obstacles.rule;
    foresight.depends_on.assign(obstacles.grounds.arguments.begin(),
                                obstacles.grounds.arguments.end());
    return foresight;
  }

 private:
  void on_deny(const CompiledTarget& target, const CompiledRule& rule, Chance chance,
               const Grounds& grounds) {
    if (chance == Chance::kAlways && denied_by_ == nullptr) {
      denied_by_ = &rule;
      denying_ = &target;
    }
    if (chance == Chance::kMaybe) against_.add(target, grounds);
  }

  void on_ask(const CompiledTarget& target, const CompiledRule& rule, Chance chance,
              const Grounds& grounds) {
    if (chance == Chance::kNever) return missed(target, grounds);
    if (rule.asks_otherwise()) {
      otherwise_.add(target, chance == Chance::kAlways ? Grounds() : grounds);
      otherwise_.approval = true;
      return;
    }
    is_possible_ = true;
    against_.add(target, chance == Chance::kAlways ? Grounds() : grounds);
    against_.approval = true;
  }

  void on_allow(const CompiledTarget& target, const CompiledRule& rule, Chance chance,
                const Grounds& grounds) {
    if (chance == Chance::kNever) return missed(target, grounds);
    is_possible_ = true;
    if (chance == Chance::kAlways && !rule.is_limited()) {
      is_sure_ = true;
      return;
    }
    for_.add(target, chance == Chance::kAlways ? Grounds() : grounds);
    if (rule.is_limited()) for_.limit = target.rule_text;
  }

  void missed(const CompiledTarget& target, const Grounds& grounds) {
    ++misses_;
    if (!nearest_.empty() && grounds.passed <= passed_) return;
    nearest_ = target.rule_text;
    nearest_place_ = target.place;
    miss_ = grounds.miss.empty() ? "no test of it can hold" : grounds.miss;
    passed_ = grounds.passed;
  }

  const CompiledLayer& layer_;
  const CompiledRule* denied_by_ = nullptr;
  const CompiledTarget* denying_ = nullptr;  // the one of it
  Obstacles against_;                        // denies and asks that may match
  Obstacles for_;                            // allows that may match
  Obstacles otherwise_;                      // asks about what no allow admits
  bool is_sure_ = false;
  bool is_possible_ = false;
  std::string nearest_;  // the rule that came nearest to a match
  std::string nearest_place_;
  std::string miss_;
  std::size_t passed_ = 0;
  std::size_t misses_ = 0;
};

std::optional<SchemaViolation> misnamed_in(const std::vector<CompiledLayer>& layers,
                                           const PossibleCall& call, const Json& arguments) {
  if (call.compiled == nullptr) return std::nullopt;
  return misnamed(layers, call.permission, *call.compiled, arguments);
}

}  // namespace

Result<PossibleCall> possible_call(const Permission& permission, const CallInSource& call,
                                   const Json* schema) {
  PossibleCall possible{.permission = permission,
                        .known = call.known,
                        .unknown = call.unknown,
                        .always_there = {},
                        .has_default = {},
                        .open = call.open,
                        .schema = schema};
  if (schema == nullptr) return possible;
  auto compiled = JsonSchema::compile(*schema, UncheckablePatterns::kLeave);
  if (!compiled) return pass_on(compiled);
  // Members are filled one by one, so a call without arguments shows every default there is.
  Json empty = Json::object();
  if (!(*compiled)->fill_defaults(empty) || !(*compiled)->fill_defaults(possible.known))
    return fail(ErrorId::kSchemaInvalid, "its defaults take too much to be filled in");
  possible.compiled = *compiled;
  possible.defaults = std::make_shared<const SchemaDefaults>(*compiled, schema);
  for (const auto& name : call.unknown) {
    if (!call.known.contains(name)) possible.known.erase(name);
    const bool filled = empty.contains(name);
    if (filled) possible.has_default.insert(name);
    if (filled || SchemaView(*schema).requires_member(name)) possible.always_there.insert(name);
  }
  if (call.open) {
    // What is not known to be passed may be passed, so no default is certain either.
    for (const auto& [name, value] : empty.items()) {
      if (call.known.contains(name)) continue;
      possible.known.erase(name);
      possible.unknown.insert(name);
      possible.always_there.insert(name);
      possible.has_default.insert(name);
    }
  }
  return possible;
}

std::string to_string(Outlook outlook) {
  switch (outlook) {
    case Outlook::kCovered: return "covered";
    case Outlook::kConditional: return "conditional";
    case Outlook::kDenied: break;
  }
  return "denied";
}

Outlook outlook_of(const std::vector<CompiledLayer>& layers, const Permission& permission,
                   const CallInSource& call, const Json* schema, Work& work) {
  if (layers.empty() || !call.known.is_object()) return Outlook::kDenied;
  const std::size_t steps = steps_of(layers, permission, call.known);
  const bool suffices = work.suffices_for(steps);
  work.spend(steps);
  if (!suffices) return Outlook::kDenied;
  auto possible = possible_call(permission, call, schema);
  if (!possible) return Outlook::kConditional;
  if (misnamed_in(layers, *possible, call.known)) return Outlook::kDenied;
  canonicalise_urls(layers, permission, possible->known);
  Outlook worst = Outlook::kCovered;
  for (const auto& layer : layers)
    worst = std::max(worst, LayerForesight(layer, *possible).outlook());
  return worst;
}

Foresight foresee_layers(const std::vector<CompiledLayer>& layers, const Permission& permission,
                         const CallInSource& call, const Json* schema,
                         const Environment& environment, Lifted lifted) {
  Foresight worst;
  if (layers.empty() || !call.known.is_object()) {
    worst.reason = "nothing is granted";
    return worst;
  }
  auto possible = possible_call(permission, call, schema);
  if (!possible) {
    worst.outlook = Outlook::kConditional;
    worst.reason = "the tool's schema cannot be read: " + possible.error().what;
    return worst;
  }
  if (auto violation = misnamed_in(layers, *possible, call.known)) {
    worst.layer = "lock";
    worst.reason = fmt::format("{} {}", printable(violation->pointer, 200),
                               printable(violation->message, 300));
    return worst;
  }
  canonicalise_urls(layers, permission, possible->known);
  worst.outlook = Outlook::kCovered;
  std::set<std::string> depends_on;
  std::size_t denying = 0;
  bool is_forbidden = false;
  bool asks = false;
  std::optional<Foresight> above;  // the first layer above the run's own that refuses it
  for (const auto& layer : layers) {
    const LayerForesight foresight(layer, *possible);
    auto next = foresight.answer(permission);
    depends_on.insert(next.depends_on.begin(), next.depends_on.end());
    denying += next.outlook == Outlook::kDenied ? 1 : 0;
    is_forbidden = is_forbidden || foresight.is_forbidden();
    asks = asks || foresight.asks();
    if (next.outlook == Outlook::kDenied && &layer != &layers.front() && !above) above = next;
    if (next.outlook > worst.outlook) worst = std::move(next);
  }
  worst.asks = asks && worst.outlook == Outlook::kConditional;
  if (worst.outlook == Outlook::kConditional)
    worst.depends_on.assign(depends_on.begin(), depends_on.end());
  // A --grant helps only where the run's own layer is what refuses, and no rule forbids it.
  worst.only_ungranted = denying == 1 && worst.layer == layers.front().name && !is_forbidden;
  const bool own_misses = worst.outlook == Outlook::kDenied && worst.layer == layers.front().name &&
                          !worst.rule.starts_with("deny ");
  if (above && own_misses) {
    if (lifted == Lifted::kUngranted) {
      worst = *std::move(above);
    } else {
      worst.no_grant = fmt::format("{} refuses it as well: {}",
                                   place_or_layer(above->place, above->layer), above->reason);
    }
  }
  if (worst.only_ungranted) {
    Fix fix = fix_for(layers.front(), *possible, environment);
    worst.would_grant = std::move(fix.would_grant);
    worst.no_grant = std::move(fix.no_grant);
  }
  return worst;
}

}  // namespace mcpac::policy
