// From a rule to its targets: names against the lock, arguments against the schemas, clauses.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/nearest_name.h"
#include "policy/match/path_pattern.h"
#include "policy/rules/check_arguments.h"
#include "policy/rules/compiled.h"
#include "policy/text/printer.h"

namespace mcpac::policy {
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
