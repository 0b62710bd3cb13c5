// SPDX-License-Identifier: Apache-2.0

#include "policy/compare/possible.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/match/parameter_names.h"
#include "policy/rules/evaluate.h"
#include "policy/rules/miss_text.h"
#include "policy/text/source_text.h"

namespace mcpac::policy {
namespace {

using Presence = ast::Arg::Presence;

Chance chance(bool holds) {
  return holds ? Chance::kAlways : Chance::kNever;
}

// One argument of a target against one call; an allow admits, a deny or ask catches.
class ArgTest {
 public:
  ArgTest(const CompiledArg& arg, CallView view, const PossibleCall& call, Grounds& grounds)
      : arg_(arg), view_(view), call_(call), grounds_(grounds) {}

  Chance holds() {
    if (arg_.steps.empty())
      return any_string_in(call_.known, call_.view(), call_.left_out(), Root::kYes);
    const auto* member = std::get_if<ast::Member>(&arg_.steps.front());
    // The arguments are an object, and never a list.
    if (member == nullptr) return admits() ? never("the arguments are no list") : Chance::kAlways;
    if (!call_.known.contains(member->name) && call_.may_have(member->name))
      return unknown(member->name);
    return at(call_.known, 0, call_.left_out());
  }

 private:
  enum class Root : std::uint8_t { kNo, kYes };

  [[nodiscard]] bool admits() const { return view_.reading == Reading::kAdmit; }

  Chance unknown(const std::string& name) {
    // What lies inside of a value that is not known may always be absent.
    const bool whole = arg_.steps.size() == 1;
    const bool there = whole && call_.always_there.contains(name);
    const bool any_value = whole && arg_.matchers.empty();
    if (arg_.presence == Presence::kAbsent) {
      if (there)
        return admits() ? never(fmt::format("{} must be absent", arg_.path_text)) : Chance::kNever;
    } else if (any_value && (there || (admits() && arg_.presence == Presence::kOptional))) {
      return Chance::kAlways;
    }
    grounds_.arguments.insert(name);
    return Chance::kMaybe;
  }

  Chance at(const Json& value, std::size_t step, const DefaultPlace* place) {
    if (step == arg_.steps.size()) return tested(value);
    const auto* member = std::get_if<ast::Member>(&arg_.steps[step]);
    if (member == nullptr) return elements(value, step, place);
    if (!value.is_object())
      return admits() ? never(fmt::format("{}: {} is no object", arg_.path_text, shown(value)))
                      : Chance::kAlways;
    const auto found = value.find(member->name);
    const DefaultPlace* next = place == nullptr ? nullptr : place->member(member->name);
    if (found != value.end()) return at(*found, step + 1, next);
    if (arg_.presence == Presence::kAbsent) return Chance::kAlways;
    if (admits() && arg_.presence == Presence::kRequired)
      return never(fmt::format("{} is absent", arg_.path_text));
    return left_out(step + 1, next);
  }

  // As catches_left_out() and admits_left_out() answer.
  Chance left_out(std::size_t step, const DefaultPlace* place) {
    if (place == nullptr || (admits() && arg_.matchers.empty())) return chance(admits());
    if (place->is_unknown())
      return admits() ? never(fmt::format("{} is left out", arg_.path_text)) : Chance::kAlways;
    Chance all = Chance::kAlways;
    Chance any = Chance::kNever;
    const auto add = [&](Chance one) {
      all = std::min(all, one);
      any = std::max(any, one);
    };
    for (const Json* standard : place->values()) add(at(*standard, step, place));
    const auto* member =
        step < arg_.steps.size() ? std::get_if<ast::Member>(&arg_.steps[step]) : nullptr;
    if (member != nullptr) add(left_out(step + 1, place->member(member->name)));
    return admits() ? all : any;
  }

  Chance elements(const Json& value, std::size_t step, const DefaultPlace* place) {
    if (!value.is_array())
      return admits() ? never(fmt::format("{}: {} is no array", arg_.path_text, shown(value)))
                      : Chance::kAlways;
    Chance all = Chance::kAlways;
    Chance any = Chance::kNever;
    for (const Json& element : value) {
      const Chance one = at(element, step + 1, place == nullptr ? nullptr : place->elements());
      all = std::min(all, one);
      any = std::max(any, one);
    }
    return admits() ? all : any;
  }

  Chance tested(const Json& value) {
    if (arg_.presence == Presence::kAbsent)
      return admits() ? never(fmt::format("{} must be absent", arg_.path_text)) : Chance::kNever;
    Chance all = Chance::kAlways;
    for (std::size_t i = 0; i < arg_.matchers.size() && all != Chance::kNever; ++i) {
      const Chance one = passes(*arg_.matchers[i], value);
      all = std::min(all, one);
      if (one != Chance::kNever || !admits()) continue;
      const auto& text = arg_.matcher_texts[i];
      never(fmt::format("{} {} {}", arg_.path_text, shown(value),
                        failing(text == "except" ? arg_.text : text)));
    }
    return all;
  }

  Chance passes(const Matcher& matcher, const Json& value, MeantAs meant = MeantAs::kUnknown,
                bool is_root_by_default = false) {
    CallView view = view_;
    view.meant = meant;
    view.is_root_by_default = is_root_by_default;
    if (matcher.asks_file_system(value, view)) {
      grounds_.file_system = true;
      return Chance::kMaybe;
    }
    const Outcome outcome = matcher.match(value, view);
    const bool sure = admits() || view_.any_string;
    return chance(sure ? outcome == Outcome::kPass : outcome != Outcome::kFail);
  }

  Chance all_tests(const Json& text, MeantAs meant, bool is_root_by_default = false) {
    Chance all = Chance::kAlways;
    for (const auto& matcher : arg_.matchers)
      all = std::min(all, passes(*matcher, text, meant, is_root_by_default));
    return all;
  }

  // "*": every string value, and every name of a member that no schema knows.
  Chance any_string_in(const Json& value, const SchemaView& schema, const DefaultPlace* place,
                       Root root, MeantAs meant = MeantAs::kUnknown) {
    if (value.is_string()) return all_tests(value, meant, is_root_by_default(value, schema));
    Chance any = Chance::kNever;
    if (value.is_array()) {
      const SchemaView elements = schema.elements();
      const DefaultPlace* next = place == nullptr ? nullptr : place->elements();
      for (const Json& element : value)
        any = std::max(any, any_string_in(element, elements, next, Root::kNo, meant));
    } else if (value.is_object()) {
      for (const auto& [name, member] : value.items()) {
        if (!schema.names_member(name))
          any = std::max(any, all_tests(Json(name), MeantAs::kUnknown));
        const DefaultPlace* next = place == nullptr ? nullptr : place->member(name);
        any = std::max(any, any_string_in(member, schema.member(name).value_or(SchemaView()), next,
                                          Root::kNo, schema.meaning_in_call(name)));
      }
      any = std::max(any, any_string_left_out(value, place, root));
    }
    return root == Root::kYes && any != Chance::kAlways ? std::max(any, unknown_strings(schema))
                                                        : any;
  }

  Chance any_string_left_out(const Json& value, const DefaultPlace* place, Root root) {
    Chance any = Chance::kNever;
    if (place == nullptr) return any;
    if (place->is_unknown()) return Chance::kAlways;
    for (const auto& [name, below] : place->members()) {
      const bool may_be_there = root == Root::kYes && call_.may_have(name);
      if (!value.contains(name) && !may_be_there)
        any = std::max(any, any_string_at(*below, meaning_by_name(name)));
    }
    return any;
  }

  Chance any_string_at(const DefaultPlace& place, MeantAs meant) {
    if (!seen_.insert(&place).second) return Chance::kNever;
    if (place.is_unknown()) return Chance::kAlways;
    Chance any = Chance::kNever;
    for (const Json* standard : place.values())
      any = std::max(any, any_string_in(*standard, SchemaView(), &place, Root::kNo, meant));
    for (const auto& [name, below] : place.members())
      any = std::max(any, any_string_at(*below, meaning_by_name(name)));
    return any;
  }

  // Whether an unknown argument may hold a string at all.
  Chance unknown_strings(const SchemaView& schema) {
    Chance any = Chance::kNever;
    for (const auto& name : call_.unknown) {
      const auto member = schema.names_member(name) ? schema.member(name) : std::nullopt;
      const Types types = member ? member->types() : kAllTypes;
      if ((types & (kStringType | kArrayType | kObjectType)) == 0) continue;
      grounds_.arguments.insert(name);
      any = Chance::kMaybe;
    }
    if (!call_.open) return any;
    grounds_.unread_arguments = true;
    return Chance::kMaybe;
  }

  static std::string shown(const Json& value) { return printable(to_text(value), 60); }

  Chance never(std::string why) {
    if (grounds_.miss.empty()) grounds_.miss = std::move(why);
    return Chance::kNever;
  }

  const CompiledArg& arg_;
  const CallView view_;
  const PossibleCall& call_;
  Grounds& grounds_;
  std::set<const DefaultPlace*> seen_;
};

// The closed world of an allow: is everything that the call can have named in the brackets?
Chance all_named(const CompiledBrackets& brackets, const PossibleCall& call, Grounds& grounds) {
  if (brackets.rest) return Chance::kAlways;
  Miss miss;
  if (!names_all(brackets, {call.permission, call.known, call.schema}, &miss)) {
    if (grounds.miss.empty()) grounds.miss = miss.why;
    return Chance::kNever;
  }
  Chance all = Chance::kAlways;
  for (const auto& name : call.unknown) {
    const auto known = brackets.names.members.find(name);
    const bool is_named = known != brackets.names.members.end();
    if (is_named && (known->second.anything || known->second.is_leaf())) continue;
    // What equals its default counts as absent, so only what must be there and has none is lost.
    if (!is_named && call.always_there.contains(name) && !call.has_default.contains(name)) {
      if (grounds.miss.empty())
        grounds.miss = fmt::format("{} is not named in the brackets", printable(name));
      return Chance::kNever;
    }
    grounds.arguments.insert(name);
    all = Chance::kMaybe;
  }
  if (!call.open) return all;
  grounds.unread_arguments = true;
  return Chance::kMaybe;
}

}  // namespace

void Grounds::add(const Grounds& other) {
  arguments.insert(other.arguments.begin(), other.arguments.end());
  unread_arguments = unread_arguments || other.unread_arguments;
  file_system = file_system || other.file_system;
}

Chance possible_match(const CompiledTarget& target, Effect effect, const PossibleCall& call,
                      Grounds& grounds) {
  if (!target.brackets) return Chance::kAlways;
  const bool is_allow = effect == Effect::kAllow;
  Chance all = Chance::kAlways;
  const CallStarts starts(call.known, call.left_out());
  for (const auto& arg : target.brackets->args) {
    const CallView view{.server = call.permission.server(),
                        .reading = is_allow ? Reading::kAdmit : Reading::kCatch,
                        .any_string = arg.steps.empty(),
                        .tool = &call.permission,
                        .starts = &starts};
    const Chance one = ArgTest(arg, view, call, grounds).holds();
    if (one == Chance::kAlways) ++grounds.passed;
    all = std::min(all, one);
  }
  return is_allow ? std::min(all, all_named(*target.brackets, call, grounds)) : all;
}

}  // namespace mcpac::policy
