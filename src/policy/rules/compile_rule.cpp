// SPDX-License-Identifier: Apache-2.0

// From a rule to its targets: names against the lock, arguments against the schemas, clauses.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/json_compare.h"
#include "core/json_schema.h"
#include "core/nearest_name.h"
#include "policy/match/path_pattern.h"
#include "policy/rules/compiled.h"
#include "policy/rules/schema_view.h"
#include "policy/text/printer.h"

namespace mcpac::policy {
namespace {

// Check arguments: a rule's tests of arguments against the schemas of the tools it covers.
//
// A rule that names what no schema has, or tests for what no schema admits, would never decide
// anything; its author meant something else. Behind a wildcard one covered tool is enough
// (vectors, reading R2).

// Names, types, shapes and listed values of one argument. `schemas` are of the covered tools; none:
// a control permission, without known arguments.
[[nodiscard]] Checked<void> check_argument(const ast::Arg& arg, const CompiledArg& compiled,
                                           const std::vector<const Json*>& schemas);

// Whether a call of a tool with this schema may have the argument, for all that the schema says.
[[nodiscard]] bool knows_argument(const Json& schema, const ast::Arg& arg);

// An allow whose closed brackets leave out what the schema requires admits no call.
[[nodiscard]] Checked<void> check_required(const ast::Target& target,
                                           const CompiledBrackets& brackets,
                                           const std::vector<const Json*>& schemas);

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

}  // namespace

namespace {

const std::vector<std::string> kControls = {"delegate", "send", "spawn"};
constexpr std::string_view kControlServer = "mcpac";

// The tools that a selector covers, with their schemas; a control permission has none.
struct Covered {
  std::vector<const Json*> schemas;
  std::vector<Permission> tools;
  std::vector<std::string> servers;
};

std::vector<std::string> tool_names(const ToolSchemas& tools, const std::string& server) {
  std::vector<std::string> names;
  for (const auto& [permission, schema] : tools) {
    if (permission.server() == server) names.push_back(permission.tool());
  }
  return names;
}

std::unexpected<Complaint> unknown_server(const ast::Selector& selector, const ToolSchemas& tools) {
  std::vector<std::string> names;
  for (const auto& [permission, schema] : tools) {
    if (names.empty() || names.back() != permission.server()) names.push_back(permission.server());
  }
  const std::string near = nearest_name(*selector.server, names);
  return complain(
      ErrorId::kRuleUnknownName, selector.at,
      fmt::format("the lock knows no server '{}'", printable(*selector.server)),
      "a rule names servers and tools that mcpac.lock holds",
      near.empty()
          ? "`mcpac generate` adds the servers of mcpac.json to it, and `mcpac tools list` "
            "shows what it holds"
          : fmt::format("did you mean {}?", print_name(near)));
}

std::unexpected<Complaint> unknown_tool(const ast::Selector& selector, const ToolSchemas& tools) {
  const auto names =
      *selector.server == kControlServer ? kControls : tool_names(tools, *selector.server);
  const std::string near = nearest_or_longer_name(*selector.tool, names);
  return complain(
      ErrorId::kRuleUnknownName, selector.tool_at,
      fmt::format("the lock knows no tool '{}' of server {}", printable(*selector.tool),
                  printable(*selector.server)),
      "a rule names servers and tools that mcpac.lock holds",
      near.empty()
          ? fmt::format("`mcpac tools list {0}` shows what it holds, `mcpac lock "
                        "diff {0}` what is new at the server",
                        print_name(*selector.server))
          : fmt::format("did you mean {}.{}?", print_name(*selector.server), print_name(near)));
}

Checked<Covered> cover(const ast::Selector& selector, const ToolSchemas& tools) {
  Covered covered;
  if (selector.server && selector.tool && *selector.server == kControlServer) {
    if (std::ranges::find(kControls, *selector.tool) != kControls.end()) {
      covered.servers.emplace_back(kControlServer);
      return covered;
    }
  }
  if (selector.server && selector.tool && *selector.server == kControlServer &&
      (*selector.tool == "files" || *selector.tool == "network")) {
    const bool is_files = *selector.tool == "files";
    return complain(ErrorId::kRuleIneffective, selector.at,
                    fmt::format("mcpac.{} is no tool", *selector.tool),
                    "files and the network are granted as places, not by rules",
                    is_files ? "`files ./PATH read-only`, or --files ./PATH"
                             : "`network HOST:PORT`, or --network HOST:PORT");
  }
  bool server_known = !selector.server || *selector.server == kControlServer;
  for (const auto& [permission, schema] : tools) {
    if (selector.server && permission.server() != *selector.server) continue;
    server_known = true;
    if (selector.tool && permission.tool() != *selector.tool) continue;
    covered.schemas.push_back(&schema);
    covered.tools.push_back(permission);
    if (covered.servers.empty() || covered.servers.back() != permission.server())
      covered.servers.push_back(permission.server());
  }
  if (!server_known) return unknown_server(selector, tools);
  if (selector.tool && covered.schemas.empty()) return unknown_tool(selector, tools);
  if (selector.server && *selector.server == kControlServer && covered.schemas.empty()) {
    return complain(ErrorId::kRuleIneffective, selector.at, "mcpac.* covers nothing",
                    "control permissions are granted by name",
                    "mcpac.spawn, mcpac.delegate or mcpac.send");
  }
  return covered;
}

// A price in another currency than the rule's could not be counted.
Checked<void> check_currency(const ast::Rule& rule, const Permission& permission,
                             const std::map<Permission, Money>& prices) {
  const auto price = prices.find(permission);
  if (!rule.clauses.cost || price == prices.end() ||
      price->second.currency == rule.clauses.cost->value.currency) {
    return {};
  }
  return complain(
      ErrorId::kRuleIneffective, rule.at,
      fmt::format("the limit is in {}, and the price of {} in {}",
                  rule.clauses.cost->value.currency, permission.text(), price->second.currency),
      "a limit that is not counted is none",
      fmt::format("write the limit in {}", price->second.currency));
}

Checked<void> check_clauses(const ast::Rule& rule, const Clock* clock) {
  const auto& c = rule.clauses;
  const auto unfinished = [&](std::string_view clause, std::string_view why) {
    return complain(ErrorId::kRuleIneffective, rule.at,
                    fmt::format("the clause '{}' is not supported yet", clause), std::string(why),
                    "leave it out");
  };
  const bool limited =
      c.calls || c.rate || c.bytes_in || c.bytes_out || c.cost || c.duration || c.until;
  if (limited && rule.effect != Effect::kAllow) {
    const bool denies = rule.effect == Effect::kDeny;
    return complain(
        ErrorId::kRuleIneffective, rule.at,
        fmt::format("a limit on a rule of {}", to_string(rule.effect)),
        denies ? "when it is used up the rule would no longer hold, and what it denies be allowed"
               : "when it is used up the rule would no longer hold, and nobody be asked",
        denies ? "leave the limit out, and put one on the allow that admits the call"
               : "leave the limit out, and put it on an allow of a layer above, which the call "
                 "needs as well: 'allow … calls <= 3' in mcpac.policy");
  }
  if (c.otherwise && rule.effect != Effect::kAsk) {
    return complain(ErrorId::kRuleIneffective, rule.at,
                    fmt::format("'otherwise' on a rule of {}", to_string(rule.effect)),
                    "it says of an ask that it is about what no allow beside it admits",
                    "leave it out, or write it behind an ask");
  }
  if ((c.calls && *c.calls == 0) || (c.rate && c.rate->calls == 0)) {
    return complain(ErrorId::kRuleIneffective, rule.at, "a limit of no calls",
                    "a rule that can never match is a mistake", "leave out the rule");
  }
  if ((c.bytes_in && c.bytes_in->bytes == 0) || (c.bytes_out && c.bytes_out->bytes < 2)) {
    return complain(ErrorId::kRuleIneffective, rule.at, "a limit of no bytes",
                    "a rule that can never match is a mistake: {} alone has two bytes",
                    "leave out the rule");
  }
  if ((c.rate || c.duration || c.until) && clock == nullptr)
    return unfinished("rate, for or until", "there is no clock here");
  return {};
}

// The covered tools that lack an argument which every call that the rule admits has.
Checked<std::map<Permission, std::string>> tools_without(const ast::Target& target,
                                                         const Covered& covered) {
  std::map<Permission, std::string> without;
  for (std::size_t i = 0; i < covered.tools.size(); ++i) {
    const auto lacked = std::ranges::find_if(target.brackets->args, [&](const ast::Arg& arg) {
      return arg.presence == ast::Arg::Presence::kRequired &&
             !knows_argument(*covered.schemas[i], arg);
    });
    if (lacked != target.brackets->args.end())
      without.emplace(covered.tools[i], print(lacked->path));
  }
  if (without.empty() || without.size() < covered.tools.size()) return without;
  return complain(ErrorId::kRuleIneffective, target.selector.at,
                  fmt::format("no tool has all the arguments that '{}' tests", print(target)),
                  "a rule covers the tools that have what it tests", "write one rule for each");
}

}  // namespace

bool is_control(const Permission& permission) {
  return permission.server() == kControlServer &&
         std::ranges::find(kControls, permission.tool()) != kControls.end();
}

Result<void> Loader::add(const ast::Rule& rule, const SourceText& source) {
  const auto report = [&source](const Complaint& c) {
    return source.error(c.id, c.at, c.what, c.why, c.fix);
  };
  if (auto checked = check_clauses(rule, environment.clock); !checked)
    return report(checked.error());
  for (const auto& target : rule.targets) {
    auto covered = cover(target.selector, *environment.tools);
    if (!covered) return report(covered.error());
    for (const auto& tool : covered->tools) {
      if (auto checked = check_currency(rule, tool, environment.prices); !checked)
        return report(checked.error());
    }
    ast::Rule alone;
    alone.effect = rule.effect;
    alone.targets = {target};
    alone.clauses = rule.clauses;
    CompiledTarget compiled{.rule = layer.rules.size(),
                            .text = print(target),
                            .rule_text = print(alone),
                            .place = source.line_of(target.selector.at),
                            .brackets = {},
                            .is_wildcard = !target.selector.server || !target.selector.tool};
    if (target.brackets) {
      const World world{environment, covered->servers, rule.effect};
      auto brackets = compile_brackets(*target.brackets, world);
      if (!brackets) return report(brackets.error());
      for (std::size_t i = 0; i < brackets->args.size(); ++i) {
        auto checked =
            check_argument(target.brackets->args[i], brackets->args[i], covered->schemas);
        if (!checked) return report(checked.error());
      }
      if (rule.effect == Effect::kAllow) {
        if (auto checked = check_required(target, *brackets, covered->schemas); !checked)
          return report(checked.error());
        if (!target.selector.server || !target.selector.tool) {
          auto without = tools_without(target, *covered);
          if (!without) return report(without.error());
          compiled.leaves_out = std::move(*without);
        }
      }
      compiled.brackets = std::move(*brackets);
    }
    const auto& selector = target.selector;
    if (!selector.server) {
      layer.everywhere.push_back(std::move(compiled));
    } else if (!selector.tool) {
      layer.by_server[*selector.server].push_back(std::move(compiled));
    } else {
      auto permission = Permission::of(*selector.server, *selector.tool);
      if (!permission) return pass_on(permission);
      layer.by_tool[*permission].push_back(std::move(compiled));
    }
  }
  layer.rules.push_back({.text = print(rule),
                         .place = source.line_of(rule.at),
                         .effect = rule.effect,
                         .clauses = rule.clauses,
                         .used = {}});
  layer.has_meter = layer.has_meter || layer.rules.back().has_meter();
  layer.has_otherwise = layer.has_otherwise || layer.rules.back().asks_otherwise();
  layer.has_audit_clause = layer.has_audit_clause || rule.clauses.audit.has_value();
  return {};
}

}  // namespace mcpac::policy
