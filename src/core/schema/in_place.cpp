// Validation: the keywords that apply further schemas to the same value.
#include <fmt/format.h>

#include <algorithm>

#include "core/schema/validator.h"

namespace mcpac::schema {

bool Validator::holds_quietly(const Node& node, const At& at) {
  Evaluated evaluated;
  ++quiet_;
  const bool valid =
      check(node, {at.value, at.path, at.scope, at.evaluated != nullptr ? &evaluated : nullptr});
  --quiet_;
  if (valid && at.evaluated != nullptr) at.evaluated->add(evaluated);
  return valid;
}

bool Validator::check_in_place(const InPlace& rules, const At& at) {
  if (rules.reference != nullptr && !check(*rules.reference, at)) return false;
  if (rules.dynamic != nullptr && !check_dynamic(rules, at)) return false;
  for (const Node* node : rules.all_of) {
    if (!check(*node, at)) return false;
  }
  if (!rules.any_of.empty() && !check_any_of(rules, at)) return false;
  if (!rules.one_of.empty() && !check_one_of(rules, at)) return false;
  if (rules.negated != nullptr) {
    const At unseen{at.value, at.path, at.scope, nullptr};
    if (holds_quietly(*rules.negated, unseen)) {
      return violated(at, "not", [] { return "matches what it must not match"; });
    }
  }
  return rules.condition == nullptr || check_condition(rules, at);
}

bool Validator::check_any_of(const InPlace& rules, const At& at) {
  // With one form there is nothing to choose: its own violation says more.
  if (rules.any_of.size() == 1) return check(*rules.any_of.front(), at);
  bool found = false;
  for (const Node* node : rules.any_of) {
    found = holds_quietly(*node, at) || found;
    // Every form that holds tells what it evaluated, so then all are asked.
    if (found && at.evaluated == nullptr) return true;
  }
  return found || violated(at, "anyOf", [&] {
           return fmt::format("must match at least one of {} forms, matches none",
                              rules.any_of.size());
         });
}

bool Validator::check_one_of(const InPlace& rules, const At& at) {
  if (rules.one_of.size() == 1) return check(*rules.one_of.front(), at);
  std::size_t matching = 0;
  for (const Node* node : rules.one_of) {
    if (holds_quietly(*node, at)) ++matching;
    if (matching > 1) break;
  }
  return matching == 1 || violated(at, "oneOf", [&] {
           return fmt::format("must match exactly one of {} forms, matches {}", rules.one_of.size(),
                              matching == 0 ? "none" : "several");
         });
}

bool Validator::check_condition(const InPlace& rules, const At& at) {
  const Node* next = holds_quietly(*rules.condition, at) ? rules.then : rules.otherwise;
  return next == nullptr || check(*next, at);
}

// The outermost resource on the way here that has the anchor decides (2020-12 core, 8.2.3.2).
bool Validator::check_dynamic(const InPlace& rules, const At& at) {
  const Node* target = rules.dynamic;
  if (!rules.dynamic_anchor.empty()) {
    for (const Scope* scope = &at.scope; scope != nullptr; scope = scope->outer) {
      const auto& named = program_.dynamic_anchors[scope->resource];
      const auto found = std::ranges::find(named, rules.dynamic_anchor, &NamedNode::first);
      if (found != named.end()) target = found->second;
    }
  }
  return check(*target, at);
}

}  // namespace mcpac::schema
