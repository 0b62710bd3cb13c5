// SPDX-License-Identifier: Apache-2.0

#include "policy/decide/call_marks.h"

#include <algorithm>

#include "policy/decide/decide.h"

namespace mcpac::policy {

bool MarkedTarget::matches(const Marks& marks) const {
  return !marks[fails] &&
         std::ranges::all_of(must_catch, [&](std::size_t mark) { return marks[mark]; });
}

Effect MarkedLayer::answer(const Marks& marks) const {
  Effect answer = Effect::kDeny;
  bool otherwise = false;
  for (const auto& target : targets) {
    if (!target.matches(marks)) continue;
    if (target.effect == Effect::kDeny) return Effect::kDeny;
    if (target.otherwise) {
      otherwise = true;
    } else if (target.effect == Effect::kAsk || answer == Effect::kDeny) {
      answer = target.effect;
    }
  }
  return answer == Effect::kDeny && otherwise ? Effect::kAsk : answer;
}

bool MarkedLayer::surely_denies(const Marks& marks) const {
  return std::ranges::all_of(targets, [&](const MarkedTarget& target) {
    return target.effect == Effect::kDeny || marks[target.fails];
  });
}

std::vector<const CompiledRule*> MarkedLayer::matching(const Marks& marks, Effect effect) const {
  std::vector<const CompiledRule*> rules;
  for (const auto& target : targets) {
    if (target.effect != effect || !target.matches(marks)) continue;
    const CompiledRule* rule = &layer->rules[target.target->rule];
    if (std::ranges::find(rules, rule) == rules.end()) rules.push_back(rule);
  }
  return rules;
}

bool looks_into_many(const CompiledArg& arg) {
  return arg.steps.empty() || std::ranges::any_of(arg.steps, [](const ast::Step& step) {
           return std::holds_alternative<ast::Elements>(step);
         });
}

std::vector<MarkedLayer> mark_layers(const std::vector<CompiledLayer>& layers,
                                     const Permission& permission, std::size_t& next) {
  std::vector<MarkedLayer> marked;
  for (const auto& layer : layers) {
    MarkedLayer made{&layer, {}};
    for (const auto* target : covering(layer, permission)) {
      const auto& rule = layer.rules[target->rule];
      MarkedTarget one{target, rule.effect, next++, {}, rule.asks_otherwise()};
      if (one.effect != Effect::kAllow && target->brackets) {
        for (const auto& arg : target->brackets->args) {
          if (looks_into_many(arg)) one.must_catch.push_back(next++);
        }
      }
      made.targets.push_back(std::move(one));
    }
    marked.push_back(std::move(made));
  }
  return marked;
}

}  // namespace mcpac::policy
