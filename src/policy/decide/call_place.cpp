// SPDX-License-Identifier: Apache-2.0

#include "policy/decide/call_place.h"

#include <algorithm>

#include "policy/match/parameter_names.h"
#include "policy/rules/evaluate.h"

namespace mcpac::policy {
namespace {

using Presence = ast::Arg::Presence;

Outcome really(const CompiledArg& arg, std::size_t matcher, const Json& value,
               const CallView& view) {
  return arg.matchers[matcher]->match(value, view);
}

}  // namespace

void Watch::note(bool passed, Marks& marks) const {
  const bool many = reading == Reading::kCatch && looks_into_many(*arg);
  if (many == passed) marks.set(mark);
}

CallPlace::CallPlace(const std::vector<MarkedLayer>& layers, const Permission& tool,
                     SchemaView view, const DefaultPlace* defaults)
    : tool_(&tool), view_(view), defaults_(defaults) {
  for (const auto& layer : layers) {
    for (const auto& target : layer.targets) {
      if (!target.target->brackets) continue;
      const auto& brackets = *target.target->brackets;
      const bool allows = target.effect == Effect::kAllow;
      std::size_t caught = 0;
      for (const auto& arg : brackets.args) {
        const bool many = !allows && looks_into_many(arg);
        Watch watch{&arg, 0, allows ? Reading::kAdmit : Reading::kCatch, target.fails};
        if (many) watch.mark = target.must_catch[caught++];
        (arg.steps.empty() ? any_strings_ : watches_).push_back(watch);
      }
      if (allows && !brackets.rest) names_.push_back({&brackets.names, target.fails});
    }
  }
}

CallPlace::CallPlace(const CallPlace& above, SchemaView view, const DefaultPlace* defaults,
                     MeantAs meant)
    : tool_(above.tool_),
      view_(view),
      defaults_(defaults),
      depth_(above.depth_ + 1),
      meant_(meant),
      any_strings_(above.any_strings_) {}

void CallPlace::add_names(const NameWatch& above, const NameTree& tree) {
  if (!tree.anything && !tree.is_leaf()) names_.push_back({&tree, above.mark});
}

CallPlace CallPlace::member(const std::string& name) const {
  CallPlace place(*this, view_.member(name).value_or(SchemaView()),
                  defaults_ == nullptr ? nullptr : defaults_->member(name),
                  any_strings_.empty() ? MeantAs::kUnknown : view_.meaning_in_call(name));
  for (Watch watch : watches_) {
    const auto* member = watch.member();
    if (member == nullptr || member->name != name) continue;
    ++watch.step;
    place.watches_.push_back(watch);
  }
  for (const auto& names : names_) {
    const auto found = names.tree->members.find(name);
    if (found != names.tree->members.end()) place.add_names(names, found->second);
  }
  return place;
}

CallPlace CallPlace::elements() const {
  CallPlace place(*this, view_.elements(), defaults_ == nullptr ? nullptr : defaults_->elements(),
                  meant_);
  for (Watch watch : watches_) {
    if (watch.ends() || watch.member() != nullptr) continue;
    ++watch.step;
    place.watches_.push_back(watch);
  }
  for (const auto& names : names_) {
    if (names.tree->elements) place.add_names(names, *names.tree->elements);
  }
  return place;
}

CallView CallPlace::call_view(const Watch& watch) const {
  return {.server = tool_->server(),
          .reading = watch.reading,
          .any_string = watch.arg->steps.empty(),
          .lexical = true,
          .tool = tool_,
          .meant = watch.arg->steps.empty() ? meant_ : MeantAs::kUnknown};
}

Marks CallPlace::of_value(const Json& value, const Answer& answer) const {
  Marks marks;
  for (const auto& watch : watches_) {
    if (!watch.ends()) {
      // The wrong type: an allow does not admit it, a deny or ask catches it.
      const bool fits = watch.member() != nullptr ? value.is_object() : value.is_array();
      if (!fits) watch.note(watch.reading == Reading::kCatch, marks);
      continue;
    }
    bool passed = watch.arg->presence != Presence::kAbsent;
    for (std::size_t i = 0; i < watch.arg->matchers.size() && passed; ++i) {
      const Outcome outcome = answer(*watch.arg, i, call_view(watch));
      passed =
          watch.reading == Reading::kAdmit ? outcome == Outcome::kPass : outcome != Outcome::kFail;
    }
    watch.note(passed, marks);
  }
  if (value.is_string()) marks |= of_any_string(value, answer);
  // What a server puts into it may be anything.
  if (value.is_object() && defaults_ != nullptr && defaults_->is_unknown()) {
    for (const auto& watch : any_strings_) watch.note(true, marks);
  }
  return marks;
}

Marks CallPlace::of_any_string(const Json&, const Answer& answer) const {
  Marks marks;
  for (const auto& watch : any_strings_) {
    bool passed = true;
    for (std::size_t i = 0; i < watch.arg->matchers.size() && passed; ++i)
      passed = answer(*watch.arg, i, call_view(watch)) == Outcome::kPass;
    watch.note(passed, marks);
  }
  return marks;
}

Marks CallPlace::of_value(const Json& value) const {
  return of_value(value, [&](const CompiledArg& arg, std::size_t matcher, const CallView& view) {
    return really(arg, matcher, value, view);
  });
}

Marks CallPlace::of_absence(const std::string& name) const {
  Marks marks;
  const DefaultPlace* defaults = defaults_ == nullptr ? nullptr : defaults_->member(name);
  for (const auto& watch : watches_) {
    const auto* member = watch.member();
    if (member == nullptr || member->name != name) continue;
    const Presence presence = watch.arg->presence;
    const CallView view = call_view(watch);
    const bool is_passed = watch.reading == Reading::kAdmit
                               ? presence == Presence::kAbsent ||
                                     (presence == Presence::kOptional &&
                                      admits_left_out(*watch.arg, view, watch.step + 1, defaults))
                               : presence == Presence::kAbsent ||
                                     catches_left_out(*watch.arg, view, watch.step + 1, defaults);
    watch.note(is_passed, marks);
  }
  if (defaults == nullptr) return marks;
  for (const auto& watch : any_strings_) {
    CallView view = call_view(watch);
    view.meant = meaning_by_name(name);
    watch.note(catches_string_left_out(*watch.arg, view, *defaults), marks);
  }
  return marks;
}

Marks CallPlace::of_presence(const std::string& name, bool equals_default) const {
  Marks marks;
  for (const auto& names : names_) {
    if (!equals_default && !names.tree->members.contains(name)) marks.set(names.mark);
  }
  if (any_strings_.empty() || view_.names_member(name)) return marks;
  const Json text(name);
  return marks |
         of_any_string(text, [&](const CompiledArg& arg, std::size_t matcher, CallView view) {
           view.meant = MeantAs::kUnknown;  // whatever the place around it is for
           return really(arg, matcher, text, view);
         });
}

Marks CallPlace::of_all(const Json& value) const {
  Marks marks = of_value(value);
  if (value.is_array()) {
    const CallPlace below = elements();
    for (const auto& element : value) marks |= below.of_all(element);
  }
  if (!value.is_object()) return marks;
  std::set<std::string> names = known_members();
  for (const auto& [name, unused] : value.items()) names.insert(name);
  for (const auto& name : names) {
    const auto found = value.find(name);
    if (found == value.end()) {
      marks |= of_absence(name);
      continue;
    }
    const CallPlace below = member(name);
    marks |= of_presence(name, below.view().equals_default(*found));
    marks |= below.of_all(*found);
  }
  return marks;
}

std::set<std::string> CallPlace::known_members() const {
  std::set<std::string> known;
  for (const auto& watch : watches_) {
    if (const auto* member = watch.member()) known.insert(member->name);
  }
  for (const auto& names : names_) {
    for (const auto& [name, tree] : names.tree->members) known.insert(name);
  }
  for (auto& name : view_.member_names()) known.insert(std::move(name));
  if (defaults_ != nullptr && !any_strings_.empty()) {
    for (const auto& [name, below] : defaults_->members()) known.insert(name);
  }
  return known;
}

bool CallPlace::forbids_member(const std::string& name) const {
  const Json* schema = view_.text();
  if (schema == nullptr || view_.names_member(name)) return false;
  const Json* additional = find_member(*schema, "additionalProperties");
  return additional != nullptr && additional->is_boolean() && !additional->get<bool>() &&
         !schema->contains("patternProperties");
}

}  // namespace mcpac::policy
