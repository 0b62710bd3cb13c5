#include "policy/rules/check_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/json_compare.h"
#include "core/json_schema.h"
#include "core/nearest_name.h"
#include "policy/rules/schema_view.h"
#include "policy/text/printer.h"

namespace mcpac::policy {
namespace {

using Presence = ast::Arg::Presence;

// Walks one argument path through one schema.
struct Reached {
  std::optional<SchemaView> view;  // nothing: the way is barred
  std::string wrong;               // the name that is unknown, or empty:
  std::string not_inside;          // what is no object or array, in words
  std::vector<std::string> known;
  bool always_there = true;  // required, or with a default, at every step
};

// "'a' is a string, which has no members", where the schema says so.
std::string misshapen(const SchemaView& view, const ast::ArgPath& path, std::size_t step) {
  const bool wants_member = std::holds_alternative<ast::Member>(path.steps[step]);
  const Types types = view.types();
  if ((types & (wants_member ? kObjectType : kArrayType)) != 0) return "";
  ast::ArgPath above;
  above.steps.assign(path.steps.begin(), path.steps.begin() + static_cast<std::ptrdiff_t>(step));
  return fmt::format("'{}' is {}, which has no {}", step == 0 ? "the call" : print(above),
                     to_string(types), wants_member ? "members" : "elements");
}

Reached reach(const Json& schema, const ast::ArgPath& path,
              const UnfilledDefaults* unfilled = nullptr) {
  Reached reached;
  reached.view = SchemaView(schema, unfilled);
  for (std::size_t i = 0; i < path.steps.size(); ++i) {
    reached.not_inside = misshapen(*reached.view, path, i);
    if (!reached.not_inside.empty()) {
      reached.view.reset();
      return reached;
    }
    if (std::holds_alternative<ast::Elements>(path.steps[i])) {
      reached.view = reached.view->elements();
      continue;
    }
    const auto& name = std::get<ast::Member>(path.steps[i]).name;
    const bool is_required = reached.view->requires_member(name);
    auto next = reached.view->member(name);
    if (!next) {
      reached.wrong = name;
      reached.known = reached.view->member_names();
      reached.view.reset();
      return reached;
    }
    reached.always_there =
        reached.always_there && (is_required || next->default_value() != nullptr);
    reached.view = std::move(next);
  }
  return reached;
}

// What a rule may say of a value of these types.
std::string tests_of(Types types) {
  if ((types & kNumberType) != 0) return "a number takes ==, !=, <, <=, >, >=, 1..100 and in {…}";
  if ((types & kStringType) != 0)
    return "a string takes ==, in {…}, starts, ends, like, re /…/, within, matches, host and len";
  if ((types & kBooleanType) != 0) return "a boolean takes == true and == false";
  if ((types & kArrayType) != 0) return "a list takes size 1..10, and tests of each element: [*]";
  return (types & kObjectType) != 0 ? "an object takes tests of its members: a.b" : "";
}

// A test of a list mostly means each of its elements: "paths[*] within ./data".
std::string fix_of_types(const ast::Arg& arg, const CompiledArg& compiled, const SchemaView& view) {
  if ((view.types() & kArrayType) == 0) return tests_of(view.types());
  Types elements = view.elements().types();
  for (const auto& matcher : compiled.matchers)
    elements = static_cast<Types>(elements & matcher->types());
  if (elements == 0) return tests_of(view.types());
  ast::Arg each = arg;
  each.path.steps.emplace_back(ast::Elements{});
  return print(each);
}

Checked<void> check_types(const ast::Arg& arg, const CompiledArg& compiled,
                          const SchemaView& view) {
  Types possible = view.types();
  for (const auto& matcher : compiled.matchers)
    possible = static_cast<Types>(possible & matcher->types());
  if (possible != 0) return {};
  return complain(ErrorId::kRuleIneffective, arg.at,
                  fmt::format("'{}' tests for something else than {}, which the schema says",
                              compiled.text, to_string(view.types())),
                  "a test of the wrong type can never decide anything",
                  fix_of_types(arg, compiled, view));
}

// The values that a schema lists for a place; null where it lists none.
const Json* listed_values(const SchemaView& view) {
  const Json* listed = view.text() == nullptr ? nullptr : find_member(*view.text(), "enum");
  return listed != nullptr && listed->is_array() && !listed->empty() ? listed : nullptr;
}

// `standard`: what a server may take for a member that is left out, also where its own schema
// refuses it; null where there is none.
Checked<void> check_listed(const ast::Literal& literal, ast::Offset at, const Json& listed,
                           const Json* standard) {
  const auto value = parse_json(print(literal));
  if (!value || (standard != nullptr && json_equal(*standard, *value)) ||
      std::ranges::any_of(listed, [&](const Json& one) { return json_equal(one, *value); }))
    return {};
  std::vector<std::string> names;
  std::string all;
  for (const auto& one : listed) {
    if (one.is_string()) names.push_back(one.get<std::string>());
    all += (all.empty() ? "" : ", ") + printable(to_text(one), 40);
  }
  const std::string near =
      value->is_string() ? nearest_name(value->get_ref<const std::string&>(), names) : "";
  return complain(ErrorId::kRuleIneffective, at,
                  fmt::format("the schema lists no value {}", printable(to_text(*value), 80)),
                  "a test for a value that no call can have decides nothing",
                  near.empty() ? "one of " + printable(all, 200)
                               : fmt::format("did you mean {}?", print_string(near)));
}

// Each literal that is tested for, and each that is excepted, must be one that the schema lists.
Checked<void> check_literals(const ast::Arg& arg, const SchemaView& view) {
  const Json* listed = listed_values(view);
  if (listed == nullptr) return {};
  bool globs = false;
  for (const auto& test : arg.tests) {
    const auto* text = std::get_if<ast::TextTest>(&test.body);
    globs = globs || (text != nullptr && text->kind == ast::TextTest::Kind::kLike);
    std::vector<ast::Literal> literals;
    if (const auto* equal = std::get_if<ast::EqualTest>(&test.body)) literals = {equal->literal};
    if (const auto* in = std::get_if<ast::InTest>(&test.body)) literals = in->literals;
    for (const auto& literal : literals) {
      if (auto checked = check_listed(literal, test.at, *listed, view.default_value()); !checked)
        return checked;
    }
  }
  for (const auto& exception : arg.exceptions) {
    const auto* literal = std::get_if<ast::Literal>(&exception.body);
    if (literal == nullptr || globs) continue;
    if (auto checked = check_listed(*literal, exception.at, *listed, view.default_value());
        !checked)
      return checked;
  }
  return {};
}

// Asked only where a default decides: most schemas need not be compiled for it. One that does not
// compile has no calls.
UnfilledDefaults unfilled_in(const Json& schema) {
  const auto compiled = JsonSchema::compile(schema, UncheckablePatterns::kLeave);
  return compiled ? (*compiled)->unfilled_defaults(schema) : UnfilledDefaults();
}

// Required, or filled by a default, at every step.
bool is_always_there(const Json& schema, const ast::ArgPath& path, const Reached& reached) {
  if (!reached.always_there) return false;
  const UnfilledDefaults unfilled = unfilled_in(schema);
  return unfilled.empty() || reach(schema, path, &unfilled).always_there;
}

// The name that was meant, or else those that there are. All but the rule is the server's text.
std::string name_meant(const Reached& reached) {
  if (auto near = did_you_mean(reached.wrong, reached.known); !near.empty()) return near;
  if (reached.known.empty()) return "";
  return "there are: " + printable(fmt::format("{}", fmt::join(reached.known, ", ")), 200);
}

// Everything that one schema has against the argument.
Checked<void> check_against(const ast::Arg& arg, const CompiledArg& compiled, const Json& schema) {
  const Reached reached = reach(schema, arg.path);
  if (!reached.not_inside.empty()) {
    return complain(ErrorId::kRuleIneffective, arg.at, reached.not_inside,
                    "a test below it can never decide anything", "");
  }
  if (!reached.view) {
    return complain(ErrorId::kRuleUnknownName, arg.at,
                    fmt::format("no argument '{}' is known here", printable(reached.wrong)),
                    "a rule names arguments that the locked input schema has", name_meant(reached));
  }
  if (auto typed = check_types(arg, compiled, *reached.view); !typed) return typed;
  if (arg.presence == Presence::kAbsent && is_always_there(schema, arg.path, reached)) {
    return complain(ErrorId::kRuleIneffective, arg.at,
                    fmt::format("'{}' can never hold", compiled.text),
                    "the schema requires the argument, or fills it", "");
  }
  return check_literals(arg, *reached.view);
}

}  // namespace

Checked<void> check_argument(const ast::Arg& arg, const CompiledArg& compiled,
                             const std::vector<const Json*>& schemas) {
  if (arg.path.any_string() || schemas.empty()) return {};
  std::optional<Complaint> first;
  for (const Json* schema : schemas) {
    auto checked = check_against(arg, compiled, *schema);
    if (checked) return {};
    // A tool that has the argument says more of it than one that does not know the name.
    const bool says_more = first && first->id == ErrorId::kRuleUnknownName &&
                           checked.error().id != ErrorId::kRuleUnknownName;
    if (!first || says_more) first = std::move(checked.error());
  }
  return std::unexpected(std::move(*first));
}

bool knows_argument(const Json& schema, const ast::Arg& arg) {
  return arg.path.any_string() || reach(schema, arg.path).view.has_value();
}

Checked<void> check_required(const ast::Target& target, const CompiledBrackets& brackets,
                             const std::vector<const Json*>& schemas) {
  if (brackets.rest || schemas.empty()) return {};
  std::string missing;
  for (const Json* schema : schemas) {
    const SchemaView view(*schema);
    missing.clear();
    for (const auto& name : view.required_members()) {
      if (brackets.names.members.contains(name)) continue;
      const auto member = view.member(name);
      bool filled = member && member->default_value() != nullptr;
      if (filled) {
        const UnfilledDefaults unfilled = unfilled_in(*schema);
        filled = SchemaView(*schema, &unfilled).member(name)->default_value() != nullptr;
      }
      if (!filled) missing = name;
    }
    if (missing.empty()) return {};
  }
  return complain(ErrorId::kRuleIneffective, target.selector.at,
                  fmt::format("'{}' admits no call: the schema requires '{}', which is not named",
                              print(target), printable(missing)),
                  "the brackets of an allow admit only the arguments that they name",
                  fmt::format("add '{} any', or '..'", print_name(missing)));
}

}  // namespace mcpac::policy
