// From a rule to its targets: names against the lock, arguments against the schemas, clauses.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/nearest_name.h"
#include "policy/compiled.h"
#include "policy/path_pattern.h"
#include "policy/printer.h"
#include "policy/schema_view.h"

namespace mcpac::policy {
namespace {

const std::vector<std::string> kControls = {"delegate", "send", "spawn"};
constexpr std::string_view kControlServer = "mcpac";

using Presence = ast::Arg::Presence;

std::unexpected<Complaint> complain(ErrorId id, ast::Offset at, std::string what, std::string why,
                                    std::string fix) {
  return std::unexpected(Complaint{at, id, std::move(what), std::move(why), std::move(fix)});
}

// The tools that a selector covers, with their schemas; a control permission has none.
struct Covered {
  std::vector<const Json*> schemas;
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
      near.empty() ? "mcpac tools list" : fmt::format("did you mean {}?", print_name(near)));
}

std::unexpected<Complaint> unknown_tool(const ast::Selector& selector, const ToolSchemas& tools) {
  const auto names =
      *selector.server == kControlServer ? kControls : tool_names(tools, *selector.server);
  std::string near = nearest_name(*selector.tool, names);
  // gh.issues.create reads as gh.issues: the dotted tool is what was meant.
  if (near.empty()) {
    const auto dotted = std::ranges::find_if(
        names, [&](const auto& n) { return n.starts_with(*selector.tool + "."); });
    if (dotted != names.end()) near = *dotted;
  }
  return complain(ErrorId::kRuleUnknownName, selector.tool_at,
                  fmt::format("the lock knows no tool '{}' of server {}", printable(*selector.tool),
                              printable(*selector.server)),
                  "a rule names servers and tools that mcpac.lock holds",
                  near.empty() ? fmt::format("mcpac tools list {}", print_name(*selector.server))
                               : fmt::format("did you mean {}.{}?", print_name(*selector.server),
                                             print_name(near)));
}

Checked<Covered> cover(const ast::Selector& selector, const ToolSchemas& tools) {
  Covered covered;
  if (selector.server && selector.tool && *selector.server == kControlServer) {
    if (std::ranges::find(kControls, *selector.tool) != kControls.end()) {
      covered.servers.emplace_back(kControlServer);
      return covered;
    }
  }
  bool server_known = !selector.server || *selector.server == kControlServer;
  for (const auto& [permission, schema] : tools) {
    if (selector.server && permission.server() != *selector.server) continue;
    server_known = true;
    if (selector.tool && permission.tool() != *selector.tool) continue;
    covered.schemas.push_back(&schema);
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

// Walks one argument path through one schema.
struct Reached {
  std::optional<SchemaView> view;  // nothing: the name at `wrong` is unknown
  std::string wrong;
  std::vector<std::string> known;
  bool always_there = true;  // required, or filled by a default, at every step
};

Reached reach(const Json& schema, const std::vector<ast::Step>& steps) {
  Reached reached{.view = SchemaView(schema), .wrong = {}, .known = {}};
  for (const auto& step : steps) {
    if (std::holds_alternative<ast::Elements>(step)) {
      reached.view = reached.view->elements();
      continue;
    }
    const auto& name = std::get<ast::Member>(step).name;
    const bool is_required = reached.view->requires_member(name);
    auto next = reached.view->member(name);
    if (!next) return {.view = {}, .wrong = name, .known = reached.view->member_names()};
    reached.always_there =
        reached.always_there && (is_required || next->default_value() != nullptr);
    reached.view = std::move(next);
  }
  return reached;
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
                  "a test of the wrong type can never decide anything", "");
}

// R2: behind a wildcard, an argument must be known to at least one covered tool.
Checked<void> check_arg(const ast::Arg& arg, const CompiledArg& compiled, const Covered& covered,
                        Effect effect) {
  if (arg.path.any_string()) return {};
  Reached last;
  std::optional<Complaint> wrong_type;
  for (const Json* schema : covered.schemas) {
    last = reach(*schema, arg.path.steps);
    if (!last.view) continue;
    auto typed = check_types(arg, compiled, *last.view);
    if (!typed) {
      wrong_type = typed.error();
      continue;
    }
    if (arg.presence == Presence::kAbsent && last.always_there) {
      wrong_type =
          complain(ErrorId::kRuleIneffective, arg.at,
                   fmt::format("'{}' can never hold", compiled.text),
                   effect == Effect::kAllow ? "the schema requires the argument, or fills it"
                                            : "the schema requires the argument, or fills it",
                   "")
              .error();
      continue;
    }
    return {};
  }
  if (wrong_type) return std::unexpected(*wrong_type);
  if (covered.schemas.empty()) return {};
  return complain(ErrorId::kRuleUnknownName, arg.at,
                  fmt::format("no argument '{}' is known here", printable(last.wrong)),
                  "a rule names arguments that the locked input schema has",
                  did_you_mean(last.wrong, last.known));
}

// An allow whose closed brackets leave out what the schema requires admits no call.
Checked<void> check_required(const ast::Target& target, const CompiledBrackets& brackets,
                             const Covered& covered) {
  if (brackets.rest || covered.schemas.empty()) return {};
  std::string missing;
  for (const Json* schema : covered.schemas) {
    const SchemaView view(*schema);
    missing.clear();
    for (const auto& name : view.required_members()) {
      const auto member = view.member(name);
      const bool filled = member && member->default_value() != nullptr;
      if (!filled && !brackets.names.members.contains(name)) missing = name;
    }
    if (missing.empty()) return {};
  }
  return complain(ErrorId::kRuleIneffective, target.selector.at,
                  fmt::format("'{}' admits no call: the schema requires '{}', which is not named",
                              print(target), printable(missing)),
                  "the brackets of an allow admit only the arguments that they name",
                  fmt::format("add '{} any', or '..'", print_name(missing)));
}

Checked<void> check_clauses(const ast::Rule& rule, const Clock* clock) {
  const auto& c = rule.clauses;
  const auto unfinished = [&](std::string_view clause, std::string_view why) {
    return complain(ErrorId::kRuleIneffective, rule.at,
                    fmt::format("the clause '{}' is not supported yet", clause), std::string(why),
                    "leave it out");
  };
  if (c.bytes_in || c.bytes_out)
    return unfinished("bytes", "nothing counts bytes yet, and a limit that is not kept is none");
  if (c.cost)
    return unfinished("cost", "nothing counts costs yet, and a limit that is not kept is none");
  if (c.audit && *c.audit != "hash")
    return unfinished("audit " + *c.audit,
                      "every call is recorded with the digest of its arguments: audit hash");
  const bool limited = c.calls || c.rate || c.duration || c.until;
  if (limited && rule.effect != Effect::kAllow) {
    return complain(ErrorId::kRuleIneffective, rule.at,
                    fmt::format("a limit on a rule of {}", to_string(rule.effect)),
                    "when it is used up the rule would no longer hold, and authority would grow",
                    "put the limit on the allow");
  }
  if ((c.calls && *c.calls == 0) || (c.rate && c.rate->calls == 0)) {
    return complain(ErrorId::kRuleIneffective, rule.at, "a limit of no calls",
                    "a rule that can never match is a mistake", "leave out the rule");
  }
  if ((c.rate || c.duration || c.until) && clock == nullptr)
    return unfinished("rate, for or until", "there is no clock here");
  return {};
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
    ast::Rule alone;
    alone.effect = rule.effect;
    alone.targets = {target};
    alone.clauses = rule.clauses;
    CompiledTarget compiled{.rule = layer.rules.size(),
                            .text = print(target),
                            .rule_text = print(alone),
                            .brackets = {}};
    if (target.brackets) {
      const World world{environment, covered->servers, rule.effect};
      auto brackets = compile_brackets(*target.brackets, world);
      if (!brackets) return report(brackets.error());
      for (std::size_t i = 0; i < brackets->args.size(); ++i) {
        auto checked =
            check_arg(target.brackets->args[i], brackets->args[i], *covered, rule.effect);
        if (!checked) return report(checked.error());
      }
      if (rule.effect == Effect::kAllow) {
        if (auto checked = check_required(target, *brackets, *covered); !checked)
          return report(checked.error());
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
  layer.rules.push_back(
      {.text = print(rule), .effect = rule.effect, .clauses = rule.clauses, .recent = {}});
  return {};
}

}  // namespace mcpac::policy
