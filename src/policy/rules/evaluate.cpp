// SPDX-License-Identifier: Apache-2.0

#include "policy/rules/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "policy/match/parameter_names.h"
#include "policy/rules/miss_text.h"
#include "policy/rules/schema_view.h"

namespace mcpac::policy {
namespace {

using Presence = ast::Arg::Presence;

std::string shown(const Json& value) {
  return printable(to_text(value), 60);
}

bool is_root(const Json& value) {
  return value.is_string() && value.get_ref<const std::string&>() == "/";
}

void note(Miss* miss, std::string why) {
  if (miss != nullptr) miss->why = std::move(why);
}

const DefaultPlace* below(const DefaultPlace* place, std::string_view name) {
  return place == nullptr ? nullptr : place->member(name);
}

const DefaultPlace* below(const DefaultPlace* place) {
  return place == nullptr ? nullptr : place->elements();
}

const ast::Member* member_at(const CompiledArg& arg, std::size_t step) {
  return step < arg.steps.size() ? std::get_if<ast::Member>(&arg.steps[step]) : nullptr;
}

// An allow: every step must be there, every element must pass.
class Admission {
 public:
  Admission(const CompiledArg& arg, const CallView& view, Miss* miss)
      : arg_(arg), view_(view), miss_(miss) {}

  bool admits(const Json& value, std::size_t step, const DefaultPlace* place) {
    if (step == arg_.steps.size()) return passes(value);
    const auto* member = std::get_if<ast::Member>(&arg_.steps[step]);
    if (member == nullptr) {
      if (!value.is_array()) return no_value(value, "is no array");
      return std::ranges::all_of(value, [&, elements = below(place)](const Json& element) {
        return admits(element, step + 1, elements);
      });
    }
    if (!value.is_object()) return no_value(value, "is no object");
    const auto found = value.find(member->name);
    const DefaultPlace* next = below(place, member->name);
    if (found != value.end()) return admits(*found, step + 1, next);
    if (arg_.presence == Presence::kRequired)
      return no(fmt::format("{} is absent", arg_.path_text));
    return arg_.presence == Presence::kAbsent || admits_left_out(step + 1, next);
  }

  bool admits_left_out(std::size_t step, const DefaultPlace* place) {
    if (place == nullptr || arg_.matchers.empty()) return true;
    if (place->is_unknown())
      return no(
          fmt::format("{} is left out, and its schema has too many forms to tell what the "
                      "server takes it for",
                      arg_.path_text));
    for (const Json* standard : place->values()) {
      if (admits(*standard, step, place)) continue;
      if (miss_ == nullptr) return false;
      miss_->plain =
          fmt::format("{} is left out, and the default of its schema fails", arg_.path_text);
      return no(
          fmt::format("{} is left out, and the server may take it for the default of its "
                      "schema: {}",
                      arg_.path_text, miss_->why));
    }
    const auto* member = member_at(arg_, step);
    return member == nullptr || admits_left_out(step + 1, below(place, member->name));
  }

 private:
  bool passes(const Json& value) {
    if (arg_.presence == Presence::kAbsent)
      return no(fmt::format("{} must be absent", arg_.path_text));
    for (std::size_t i = 0; i < arg_.matchers.size(); ++i) {
      const Outcome outcome = arg_.matchers[i]->match(value, view_);
      if (outcome == Outcome::kPass) continue;
      if (miss_ == nullptr) return false;
      const auto& text = arg_.matcher_texts[i];
      const auto& test = text == "except" ? arg_.text : text;
      miss_->argument = arg_.path_text;
      miss_->value = shown(value);
      miss_->test = test;
      const std::string how = outcome == Outcome::kUnreadable ? unread(test) : failing(test);
      miss_->plain = fmt::format("{} {}", arg_.path_text, how);
      return no(fmt::format("{} {}{} {}", arg_.path_text, miss_->value,
                            taken_for(*arg_.matchers[i], value), how));
    }
    return true;
  }
  // The reading that fails, where the value itself does not.
  [[nodiscard]] std::string taken_for(const Matcher& matcher, const Json& value) const {
    const auto reading = matcher.taken_for(value, view_);
    return reading ? fmt::format(", which a server may take for {},", shown(*reading))
                   : std::string();
  }
  bool no(std::string why) {
    note(miss_, std::move(why));
    return false;
  }
  bool no_value(const Json& value, std::string_view what) {
    if (miss_ == nullptr) return false;
    miss_->plain = fmt::format("{} {}", arg_.path_text, what);
    return no(fmt::format("{}: {} {}", arg_.path_text, shown(value), what));
  }

  const CompiledArg& arg_;
  const CallView& view_;
  Miss* miss_;
};

// A deny or ask: whatever is of the wrong type or unreadable is caught; one element is enough.
bool catches(const CompiledArg& arg, const CallView& view, const Json& value, std::size_t step,
             const DefaultPlace* place) {
  if (step == arg.steps.size()) {
    if (arg.presence == Presence::kAbsent) return false;
    return std::ranges::all_of(
        arg.matchers, [&](const auto& m) { return m->match(value, view) != Outcome::kFail; });
  }
  if (const auto* member = std::get_if<ast::Member>(&arg.steps[step])) {
    if (!value.is_object()) return true;
    const auto found = value.find(member->name);
    const DefaultPlace* next = below(place, member->name);
    if (found != value.end()) return catches(arg, view, *found, step + 1, next);
    return arg.presence == Presence::kAbsent || catches_left_out(arg, view, step + 1, next);
  }
  if (!value.is_array()) return true;
  return std::ranges::any_of(value, [&, elements = below(place)](const Json& element) {
    return catches(arg, view, element, step + 1, elements);
  });
}

// "*": every string value, and every name of a member that no schema knows, for such a name is data
// too.
class AnyString {
 public:
  AnyString(const CompiledArg& arg, const CallView& view) : arg_(arg), view_(view) {}

  bool in(const Json& value, const SchemaView& schema, const DefaultPlace* place,
          MeantAs meant = MeantAs::kUnknown, bool is_left_out = false) {
    if (value.is_string()) {
      CallView of_value = view_;
      of_value.meant = meant;
      of_value.is_root_by_default =
          is_left_out ? is_root(value) : is_root_by_default(value, schema);
      return caught(value, of_value);
    }
    if (value.is_array()) {
      const SchemaView elements = schema.elements();
      return std::ranges::any_of(
          value, [&, next = below(place)](const Json& e) { return in(e, elements, next, meant); });
    }
    if (!value.is_object()) return false;
    CallView of_names = view_;
    of_names.readings = nullptr;  // a name is no value of the call
    for (const auto& [name, member] : value.items()) {
      if (!schema.names_member(name) && caught(Json(name), of_names)) return true;
      if (in(member, schema.member(name).value_or(SchemaView()), below(place, name),
             schema.meaning_in_call(name, view_.readings)))
        return true;
    }
    if (place == nullptr) return false;
    if (place->is_unknown()) return true;
    return std::ranges::any_of(place->members(), [&](const auto& member) {
      return !value.contains(member.first) &&
             in_left_out(*member.second, meaning_by_name(member.first));
    });
  }

  // Each place is looked at once: a schema may lead back into itself. What it is for is known by
  // its name in the schema.
  bool in_left_out(const DefaultPlace& place, MeantAs meant) {
    if (!seen_.insert(&place).second) return false;
    if (place.is_unknown()) return true;
    return std::ranges::any_of(place.values(),
                               [&](const Json* standard) {
                                 return in(*standard, SchemaView(), &place, meant, true);
                               }) ||
           std::ranges::any_of(place.members(), [&](const auto& member) {
             return in_left_out(*member.second, meaning_by_name(member.first));
           });
  }

 private:
  [[nodiscard]] bool caught(const Json& text, const CallView& seen) const {
    return std::ranges::all_of(
        arg_.matchers, [&](const auto& m) { return m->match(text, seen) == Outcome::kPass; });
  }

  const CompiledArg& arg_;
  const CallView& view_;
  std::set<const DefaultPlace*> seen_;
};

// Of the first value that decides what an argument says (one that is caught, or not admitted), what
// its tests remark; nothing where none does.
std::optional<std::string> remark_at(const CompiledArg& arg, const CallView& view,
                                     const Json& value, std::size_t step,
                                     const SchemaView& schema) {
  const auto on_each = [&](std::size_t next) -> std::optional<std::string> {
    const SchemaView elements = schema.elements();
    for (const Json& item : value) {
      if (auto remark = remark_at(arg, view, item, next, elements)) return remark;
    }
    return std::nullopt;
  };
  if (view.any_string && value.is_object()) {
    for (const auto& [name, member] : value.items()) {
      CallView below = view;
      below.meant = schema.meaning_in_call(name, view.readings);
      const auto found = schema.member(name).value_or(SchemaView());
      below.is_root_by_default = is_root_by_default(member, found);
      if (auto remark = remark_at(arg, below, member, step, found)) return remark;
    }
    return std::nullopt;
  }
  if (view.any_string && !value.is_string()) return value.is_array() ? on_each(step) : std::nullopt;
  if (step < arg.steps.size()) {
    const auto* member = std::get_if<ast::Member>(&arg.steps[step]);
    if (member == nullptr) return value.is_array() ? on_each(step + 1) : std::nullopt;
    const auto found = value.is_object() ? value.find(member->name) : value.end();
    return found == value.end() ? std::nullopt
                                : remark_at(arg, view, *found, step + 1, SchemaView());
  }
  const bool admits = view.reading == Reading::kAdmit;
  bool decides = !admits;
  std::string remark;
  for (const auto& matcher : arg.matchers) {
    const Outcome outcome = matcher->match(value, view);
    const bool passes =
        admits || view.any_string ? outcome == Outcome::kPass : outcome != Outcome::kFail;
    decides = admits ? decides || !passes : decides && passes;
    if (remark.empty() && passes != admits) remark = matcher->remark(value, view);
  }
  if (!decides) return std::nullopt;
  return remark.empty() ? remark : shown(value) + " " + remark;
}

// The closed world: everything in the call is named, or equals its default.
bool all_named(const NameTree& names, const Json& value, const SchemaView& schema,
               const std::string& path, Miss* miss) {
  if (names.anything || names.is_leaf()) return true;
  if (value.is_array()) {
    if (!names.elements) return true;
    const SchemaView elements = schema.elements();
    return std::ranges::all_of(value, [&](const Json& e) {
      return all_named(*names.elements, e, elements, path + "[*]", miss);
    });
  }
  if (!value.is_object()) return true;
  for (const auto& [name, member] : value.items()) {
    const SchemaView view = schema.member(name).value_or(SchemaView());
    const std::string below =
        miss == nullptr ? std::string() : path + (path.empty() ? "" : ".") + name;
    const auto known = names.members.find(name);
    if (known != names.members.end()) {
      if (!all_named(known->second, member, view, below, miss)) return false;
      continue;
    }
    if (view.equals_default(member)) continue;
    note(miss, fmt::format("{} is not named in the brackets", printable(below)));
    return false;
  }
  return true;
}

bool allow_matches(const CompiledBrackets& brackets, const CallUnderTest& call,
                   const CallView& view, Miss* miss) {
  for (const auto& arg : brackets.args) {
    if (!Admission(arg, view, miss).admits(call.arguments, 0, call.defaults)) return false;
    if (miss != nullptr) ++miss->passed;
  }
  return names_all(brackets, call, miss);
}

bool open_matches(const CompiledBrackets& brackets, const CallUnderTest& call, CallView view,
                  Miss* miss) {
  for (const auto& arg : brackets.args) {
    view.any_string = arg.steps.empty();
    const bool caught = view.any_string
                            ? AnyString(arg, view).in(call.arguments, call.view(), call.defaults)
                            : catches(arg, view, call.arguments, 0, call.defaults);
    if (caught) continue;
    if (miss != nullptr) {
      miss->argument = arg.path_text;
      miss->test = arg.text;
    }
    note(miss, fmt::format("'{}' does not hold", arg.text));
    return false;
  }
  return true;
}

}  // namespace

bool is_root_by_default(const Json& value, const SchemaView& schema) {
  return is_root(value) && schema.equals_default(value);
}

bool catches_left_out(const CompiledArg& arg, const CallView& view, std::size_t step,
                      const DefaultPlace* place) {
  if (place == nullptr) return false;
  if (place->is_unknown()) return true;
  if (std::ranges::any_of(place->values(), [&](const Json* standard) {
        return catches(arg, view, *standard, step, place);
      }))
    return true;
  // The object around it may be made by the server, too.
  const auto* member = member_at(arg, step);
  return member != nullptr && catches_left_out(arg, view, step + 1, below(place, member->name));
}

bool admits_left_out(const CompiledArg& arg, const CallView& view, std::size_t step,
                     const DefaultPlace* place) {
  return Admission(arg, view, nullptr).admits_left_out(step, place);
}

bool catches_string_left_out(const CompiledArg& arg, const CallView& view,
                             const DefaultPlace& place) {
  return AnyString(arg, view).in_left_out(place, view.meant);
}

std::string caught_by_default(const CompiledTarget& target, Effect effect, CallUnderTest call) {
  if (call.defaults == nullptr || effect == Effect::kAllow) return "";
  call.defaults = nullptr;
  Miss miss;
  return matches(target, effect, call, &miss) ? "" : miss.argument;
}

bool names_all(const CompiledBrackets& brackets, const CallUnderTest& call, Miss* miss) {
  if (brackets.rest) return true;
  const SchemaView schema = call.view();
  // Brackets without arguments are a tree without members: t() admits no argument at all.
  if (brackets.names.is_leaf()) {
    for (const auto& [name, value] : call.arguments.items()) {
      const auto member = schema.member(name);
      if (member && member->equals_default(value)) continue;
      note(miss, fmt::format("{} is not named in the brackets", printable(name)));
      return false;
    }
    return true;
  }
  return all_named(brackets.names, call.arguments, schema, "", miss);
}

bool matches(const CompiledTarget& target, Effect effect, const CallUnderTest& call, Miss* miss) {
  if (!target.brackets) return true;
  const bool is_allow = effect == Effect::kAllow;
  std::size_t regex_work = kMaxRegexWork;
  const CallView view{call.permission.server(),
                      is_allow ? Reading::kAdmit : Reading::kCatch,
                      false,
                      call.lexical,
                      &regex_work,
                      &call.permission,
                      call.takes_for_folders,
                      &call.readings,
                      false,
                      MeantAs::kUnknown,
                      false,
                      &call.starts};
  return is_allow ? allow_matches(*target.brackets, call, view, miss)
                  : open_matches(*target.brackets, call, view, miss);
}

std::string remark_on(const CompiledTarget& target, const CallUnderTest& call, Reading reading) {
  if (!target.brackets) return {};
  std::size_t regex_work = kMaxRegexWork;
  CallView view{.server = call.permission.server(),
                .reading = reading,
                .lexical = call.lexical,
                .regex_work = &regex_work,
                .tool = &call.permission,
                .readings = &call.readings,
                .starts = &call.starts};
  for (const auto& arg : target.brackets->args) {
    view.any_string = arg.steps.empty();
    auto remark = remark_at(arg, view, call.arguments, 0, call.view());
    if (remark && !remark->empty()) return std::move(*remark);
  }
  return {};
}

}  // namespace mcpac::policy
