// SPDX-License-Identifier: Apache-2.0

#include "policy/compare/compare_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "core/json_schema.h"
#include "policy/compare/compare_limits.h"
#include "policy/decide/canonical_urls.h"
#include "policy/decide/decide.h"
#include "policy/sets/call_classes.h"

namespace mcpac::policy {
namespace {

using Layers = std::vector<CompiledLayer>;

// The strictest answer of all layers to one call, by its text and with nothing used up.
Effect decided(const Layers& layers, const CallUnderTest& call) {
  Effect strictest = layers.empty() ? Effect::kDeny : Effect::kAllow;
  for (const auto& layer : layers)
    strictest = std::max(strictest, decide_layer(layer, call, Times{}).effect);
  return strictest;
}

Effect answered(const std::vector<MarkedLayer>& layers, const Marks& marks) {
  Effect strictest = layers.empty() ? Effect::kDeny : Effect::kAllow;
  for (const auto& layer : layers) strictest = std::max(strictest, layer.answer(marks));
  return strictest;
}

// The rules of a layer that cover a tool, as printed.
std::multiset<std::string> texts_of(const CompiledLayer& layer, const Permission& permission) {
  std::multiset<std::string> texts;
  for (const auto* target : covering(layer, permission))
    texts.insert(layer.rules[target->rule].text);
  return texts;
}

// The whole layer, as printed.
std::multiset<std::string> texts_of(const CompiledLayer& layer) {
  std::multiset<std::string> texts;
  for (const auto& rule : layer.rules) texts.insert(rule.text);
  return texts;
}

bool covers_others(const CompiledLayer& layer, std::size_t rule, const Permission& permission) {
  const auto is_it = [&](const CompiledTarget& target) { return target.rule == rule; };
  if (std::ranges::any_of(layer.everywhere, is_it)) return true;
  if (std::ranges::any_of(layer.by_server,
                          [&](const auto& one) { return std::ranges::any_of(one.second, is_it); }))
    return true;
  return std::ranges::any_of(layer.by_tool, [&](const auto& one) {
    return one.first != permission && std::ranges::any_of(one.second, is_it);
  });
}

// Does a limit of some rule over this tool hang on calls of others?
bool shares_limits(const CompiledLayer& layer, const Permission& permission) {
  return std::ranges::any_of(covering(layer, permission), [&](const CompiledTarget* target) {
    return layer.rules[target->rule].is_limited() && covers_others(layer, target->rule, permission);
  });
}

// Every tool of the lock, and the control permissions that are named.
std::set<Permission> tools_of(const Layers& narrower, const Environment& environment) {
  std::set<Permission> tools;
  for (const auto& [permission, schema] : *environment.tools) tools.insert(permission);
  for (const auto& layer : narrower) {
    for (const auto& [permission, targets] : layer.by_tool) tools.insert(permission);
  }
  return tools;
}

// Of other tools than the one that is compared: how many are looked into, how much of each.
constexpr std::size_t kMostOthers = 12;
constexpr std::size_t kMostOfOthers = 100;
constexpr std::size_t kStepsOfOthers = 100'000;

// One tool, both sides.
class ToolComparison {
 public:
  ToolComparison(const Layers& wider, const Layers& narrower, const Permission& permission,
                 const Environment& environment, KnownStrings& strings)
      : wider_(wider),
        narrower_(narrower),
        permission_(permission),
        environment_(environment),
        strings_(strings),
        marked_wider_(mark_layers(wider, permission, marks_)),
        marked_narrower_(mark_layers(narrower, permission, marks_)) {
    const auto tool = environment.tools->find(permission);
    if (tool != environment.tools->end()) schema_ = &tool->second;
  }

  Inclusion answer(const InclusionBudget& budget) { return relate(budget).beyond; }

  // Calls that both sides admit, some of each kind: for the limits that this tool shares.
  std::vector<ChargedCall> charged_calls(const InclusionBudget& budget) {
    std::vector<ChargedCall> charged;
    if (marks_ > kMaxMarks || !compile_schema()) return charged;
    StepBudget steps(budget.steps);
    for (const auto& call : examples(both(), steps)) {
      if (charged.size() == kMostOfOthers) break;
      const auto arguments = completed(call.example);
      if (!arguments) continue;
      const CallUnderTest made = under_test(*arguments, Folders::kYes);
      const Effect below = decided(narrower_, made);
      if (below == Effect::kDeny || below != answered(marked_narrower_, call.marks) ||
          decided(wider_, made) != answered(marked_wider_, call.marks))
        continue;
      charged.push_back(charged_call(marked_wider_, marked_narrower_, call.marks));
    }
    return charged;
  }
  [[nodiscard]] bool ran_out() const { return ran_out_; }

  // As relate(), by two examples: a call that neither side denies, and one that only the wider side
  // refuses. They settle most of hundreds of tools under the same denies over `*`, whose strings
  // are found once. Nothing: all calls are to be looked at.
  std::optional<Relation> relate_by_examples(const InclusionBudget& budget) {
    if (marks_ > kMaxMarks || !compile_schema()) return std::nullopt;
    StepBudget steps(budget.steps);
    const auto has_common = [this](const ValueClass& call) {
      const auto arguments = completed(call.example);
      if (!arguments) return false;
      const CallUnderTest made = under_test(*arguments, Folders::kNo);
      return std::max(decided(narrower_, made), decided(wider_, made)) != Effect::kDeny;
    };
    const auto common = examples(marked_narrower_, steps, Lengths::kLeftOut);
    if (!std::ranges::any_of(common, has_common)) return std::nullopt;
    for (const auto& layer : marked_wider_) {
      const auto strict = std::ranges::find_if(layer.targets, [](const MarkedTarget& target) {
        return target.effect != Effect::kAllow && target.target->brackets;
      });
      if (strict == layer.targets.end()) continue;
      auto refusing = marked_narrower_;
      refusing.push_back({layer.layer, {*strict}});
      for (const auto& call : examples(refusing, steps, Lengths::kLeftOut)) {
        auto excess = verified(call.example, Folders::kNo);
        if (excess) return Relation{std::move(*excess), true, budget.steps - steps.left()};
      }
    }
    return std::nullopt;
  }

  Relation relate(const InclusionBudget& budget) {
    Relation relation;
    relation.beyond = compare(budget, relation.in_common);
    relation.steps = took_;
    return relation;
  }

 private:
  Inclusion compare(const InclusionBudget& budget, bool& in_common) {
    if (narrower_.empty() || is_hopeless(Marks()) || is_same_text()) return Included{};
    if (marks_ > kMaxMarks) return undecided("there are too many rules over this tool");
    if (auto compiled = compile_schema(); !compiled) return undecided(compiled.error().what);
    StepBudget steps(budget.steps);
    Exploration exploration{strings_, [this](const Marks& m) { return is_hopeless(m); }, steps, {}};
    const auto calls = call_classes(root(), exploration);
    ran_out_ = steps.is_spent();
    took_ = budget.steps - steps.left();
    bool is_refuted = false;
    // A call that needs no folder to be there is the better example.
    const auto verified_any = [this](const Json& example) {
      auto excess = verified(example, Folders::kNo);
      return excess ? excess : verified(example, Folders::kYes);
    };
    std::optional<Excess> found;
    if (exploration.gap.empty())
      in_common = std::ranges::any_of(calls, [this](const auto& call) {
        return std::max(answered(marked_narrower_, call.marks),
                        answered(marked_wider_, call.marks)) != Effect::kDeny;
      });
    for (const auto& call : calls) {
      if (answered(marked_narrower_, call.marks) >= answered(marked_wider_, call.marks)) continue;
      if (!found || found->if_folders) {
        auto excess = verified_any(call.example);
        if (excess && !excess->if_folders) return std::move(*excess);
        if (excess && !found) found = std::move(excess);
      }
      is_refuted = true;
    }
    if (found) return std::move(*found);
    if (!exploration.gap.empty()) return undecided("it hangs on " + exploration.gap);
    if (is_refuted)
      return undecided("tests of several kinds on one argument, or a schema that says more");
    return limits(calls);
  }

  [[nodiscard]] Undecided undecided(std::string why) const { return {permission_, std::move(why)}; }

  [[nodiscard]] bool is_hopeless(const Marks& marks) const {
    return std::ranges::any_of(
        marked_narrower_, [&](const MarkedLayer& layer) { return layer.surely_denies(marks); });
  }

  // Each layer above is a layer below, word by word; as a whole, where limits hang on other tools.
  [[nodiscard]] bool is_same_text() const {
    return !wider_.empty() && std::ranges::all_of(wider_, [&](const CompiledLayer& wider) {
      const bool shares = shares_limits(wider, permission_);
      return std::ranges::any_of(narrower_, [&](const CompiledLayer& narrower) {
        return shares ? texts_of(wider) == texts_of(narrower)
                      : texts_of(wider, permission_) == texts_of(narrower, permission_);
      });
    });
  }

  // Of no use, and not asked for, where nothing above is limited.
  [[nodiscard]] std::vector<Permission> other_tools() const {
    std::vector<Permission> others;
    const bool shares = std::ranges::any_of(
        wider_, [&](const CompiledLayer& layer) { return shares_limits(layer, permission_); });
    if (!shares) return others;
    for (const auto& tool : tools_of(narrower_, environment_)) {
      if (tool != permission_) others.push_back(tool);
    }
    return others;
  }

  [[nodiscard]] CallPlace root() const { return root(both()); }
  [[nodiscard]] CallPlace root(const std::vector<MarkedLayer>& layers) const {
    return {layers, permission_,
            schema_ == nullptr ? SchemaView() : SchemaView(*schema_, unfilled()),
            defaults_ == nullptr ? nullptr : defaults_->root()};
  }
  // Of each kind of calls that these tell apart one.
  [[nodiscard]] std::vector<ValueClass> examples(const std::vector<MarkedLayer>& layers,
                                                 StepBudget& steps,
                                                 Lengths lengths = Lengths::kTold) const {
    Exploration exploration{
        strings_, [this](const Marks& m) { return is_hopeless(m); }, steps, {}, lengths};
    return call_classes(root(layers), exploration);
  }

  // Calls of tools that draw on a limit which this one draws on.
  [[nodiscard]] std::vector<ChargedCall> calls_of_others(
      const std::vector<Permission>& tools) const {
    std::vector<ChargedCall> all;
    std::size_t asked = 0;
    for (const auto& tool : tools) {
      if (!draws_along(tool) || ++asked > kMostOthers) continue;
      ToolComparison other(wider_, narrower_, tool, environment_, strings_);
      auto calls = other.charged_calls({.steps = kStepsOfOthers});
      std::ranges::move(calls, std::back_inserter(all));
    }
    return all;
  }
  [[nodiscard]] bool draws_along(const Permission& tool) const {
    const bool admitted = std::ranges::all_of(narrower_, [&](const CompiledLayer& layer) {
      return std::ranges::any_of(covering(layer, tool), [&](const CompiledTarget* target) {
        return layer.rules[target->rule].effect != Effect::kDeny;
      });
    });
    if (!admitted) return false;
    return std::ranges::any_of(wider_, [&](const CompiledLayer& layer) {
      const auto mine = covering(layer, permission_);
      const auto theirs = covering(layer, tool);
      return std::ranges::any_of(mine, [&](const CompiledTarget* one) {
        return layer.rules[one->rule].is_limited() &&
               std::ranges::find(theirs, one->rule, &CompiledTarget::rule) != theirs.end();
      });
    });
  }

  [[nodiscard]] std::vector<MarkedLayer> both() const {
    auto all = marked_wider_;
    all.insert(all.end(), marked_narrower_.begin(), marked_narrower_.end());
    return all;
  }

  Result<void> compile_schema() {
    if (schema_ == nullptr || compiled_ != nullptr) return {};
    auto compiled = JsonSchema::compile(*schema_, UncheckablePatterns::kLeave);
    if (!compiled) return pass_on(compiled);
    compiled_ = std::move(*compiled);
    defaults_ = std::make_unique<const SchemaDefaults>(compiled_, schema_);
    return {};
  }

  // What both sides really say of the call, when it is one that can be made.
  enum class Folders : std::uint8_t { kNo, kYes };
  [[nodiscard]] std::optional<Excess> verified(Json arguments, Folders folders) const {
    auto made = completed(std::move(arguments));
    if (!made) return std::nullopt;
    const CallUnderTest call = under_test(*made, folders);
    const Effect narrower = decided(narrower_, call);
    const Effect wider = decided(wider_, call);
    if (narrower >= wider) return std::nullopt;
    return Excess{permission_, *made, narrower, wider, {}, call.takes_for_folders};
  }

  [[nodiscard]] const UnfilledDefaults* unfilled() const {
    return defaults_ == nullptr ? nullptr : &defaults_->unfilled();
  }

  // Borrows the arguments.
  [[nodiscard]] CallUnderTest under_test(const Json& arguments, Folders folders) const {
    return {.permission = permission_,
            .arguments = arguments,
            .schema = schema_,
            .lexical = true,
            .takes_for_folders = folders == Folders::kYes,
            .defaults = defaults_ == nullptr ? nullptr : defaults_->root(),
            .unfilled = unfilled()};
  }

  // What its schema makes of a call; nothing where it is none.
  [[nodiscard]] std::optional<Json> completed(Json arguments) const {
    if (compiled_ == nullptr) return arguments;
    if (misnamed(wider_, permission_, *compiled_, arguments) ||
        misnamed(narrower_, permission_, *compiled_, arguments) ||
        !compiled_->fill_defaults(arguments) || compiled_->validate(arguments))
      return std::nullopt;
    return arguments;
  }

  [[nodiscard]] Inclusion limits(const std::vector<ValueClass>& calls) const {
    const auto others = other_tools();
    const auto found = compare_limits_of(marked_wider_, marked_narrower_, calls, others,
                                         [&] { return calls_of_others(others); });
    if (found.kind == LimitAnswer::Kind::kWithin) return Included{};
    if (found.kind == LimitAnswer::Kind::kUnknown) return undecided(found.what);
    auto arguments = completed(found.call->example);
    if (!arguments) return undecided("a limit on calls that the schema may not admit");
    return Excess{permission_, std::move(*arguments), answered(marked_narrower_, found.call->marks),
                  answered(marked_wider_, found.call->marks), found.what};
  }

  const Layers& wider_;
  const Layers& narrower_;
  const Permission& permission_;
  const Environment& environment_;
  KnownStrings& strings_;
  std::size_t marks_ = 0;
  std::vector<MarkedLayer> marked_wider_;
  std::vector<MarkedLayer> marked_narrower_;
  const Json* schema_ = nullptr;
  std::shared_ptr<const JsonSchema> compiled_;
  std::unique_ptr<const SchemaDefaults> defaults_;
  bool ran_out_ = false;
  std::size_t took_ = 0;
};

// What is left to every tool when others have run out.
constexpr std::size_t kLeastSteps = 100'000;

// All tools, one after the other.
class Comparison {
 public:
  Comparison(const Layers& wider, const Layers& narrower, const Environment& environment,
             const Environment& other, const InclusionBudget& budget)
      : wider_(wider),
        narrower_(narrower),
        environment_(environment),
        budget_(budget),
        strings_(environment),
        comparable_(environment.bases == other.bases &&
                    (environment.tools == other.tools || *environment.tools == *other.tools)) {}

  Inclusion answer(const Permission& permission) {
    if (!comparable_) return Undecided{permission, "the two are about different tools or places"};
    ToolComparison tool(wider_, narrower_, permission, environment_, strings_);
    auto answer = tool.answer(budget_);
    // Rules over all tools of a server must not cost as much for each of them.
    if (tool.ran_out())
      budget_.steps = std::min(budget_.steps, std::max(budget_.steps / 4, kLeastSteps));
    return answer;
  }

 private:
  const Layers& wider_;
  const Layers& narrower_;
  const Environment& environment_;
  InclusionBudget budget_;
  KnownStrings strings_;
  bool comparable_;
};

}  // namespace

std::vector<Inclusion> layers_beyond(const Layers& wider, const Layers& narrower,
                                     const Environment& environment, const Environment& other,
                                     const InclusionBudget& budget) {
  std::vector<Inclusion> beyond;
  Comparison comparison(wider, narrower, environment, other, budget);
  for (const auto& permission : tools_of(narrower, environment)) {
    auto one = comparison.answer(permission);
    if (!std::holds_alternative<Included>(one)) beyond.push_back(std::move(one));
  }
  return beyond;
}

Inclusion tool_beyond(const Layers& wider, const Layers& narrower, const Permission& permission,
                      const Environment& environment, const InclusionBudget& budget) {
  KnownStrings strings(environment);
  return ToolComparison(wider, narrower, permission, environment, strings).answer(budget);
}

Relation relate_tool(const Layers& wider, const Layers& narrower, const Permission& permission,
                     const Environment& environment, const InclusionBudget& budget) {
  KnownStrings strings(environment);
  return ToolComparison(wider, narrower, permission, environment, strings).relate(budget);
}

Relation relate_tool(const Layers& wider, const Layers& narrower, const Permission& permission,
                     const Environment& environment, const InclusionBudget& budget,
                     KnownStrings& strings) {
  ToolComparison tool(wider, narrower, permission, environment, strings);
  auto relation = tool.relate_by_examples(budget);
  return relation ? std::move(*relation) : tool.relate(budget);
}

// A call that is refused settles it, whatever is undecided.
Inclusion layers_include(const Layers& wider, const Layers& narrower,
                         const Environment& environment, const Environment& other,
                         const InclusionBudget& budget) {
  Inclusion answer = Included{};
  Comparison comparison(wider, narrower, environment, other, budget);
  for (const auto& permission : tools_of(narrower, environment)) {
    auto one = comparison.answer(permission);
    if (std::holds_alternative<Excess>(one)) return one;
    if (std::holds_alternative<Included>(answer)) answer = std::move(one);
  }
  return answer;
}

}  // namespace mcpac::policy
