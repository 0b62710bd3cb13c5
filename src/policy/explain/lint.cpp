#include "policy/explain/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "policy/compare/compare_layers.h"
#include "policy/decide/least_rule.h"
#include "policy/rules/compile_places.h"
#include "policy/text/parser.h"
#include "policy/text/printer.h"

namespace mcpac::policy {
namespace {

bool looks_at_any_string(const ast::Target& target) {
  return target.brackets && std::ranges::any_of(target.brackets->args, [](const ast::Arg& arg) {
           return arg.path.any_string();
         });
}

// A deny or ask over several tools that names an argument, which not all of them need to have.
bool names_argument_of_any_tool(const ast::Rule& rule, const ast::Target& target) {
  return rule.effect != Effect::kAllow && !target.selector.tool && target.brackets &&
         !target.brackets->args.empty() && !looks_at_any_string(target);
}

void add_place(const ast::Statement& statement, const SourceText& source, FileSummary& summary) {
  ++summary.places;
  const auto* network = std::get_if<ast::NetworkGrant>(&statement);
  if (network == nullptr || network->host != "*") return;
  summary.notes.push_back(
      {source.line_of(network->at),
       fmt::format("'{}' lets a program send what it reads to anybody{}; name the hosts that it "
                   "needs",
                   print(*network), network->is_any() ? "" : ", by name")});
}

void add(const ast::Statement& statement, const SourceText& source, FileSummary& summary) {
  if (std::holds_alternative<ast::SelfTest>(statement)) ++summary.self_tests;
  const auto* rule = std::get_if<ast::Rule>(&statement);
  if (is_place(statement)) add_place(statement, source, summary);
  if (rule == nullptr) return;
  ++summary.rules;
  for (const auto& target : rule->targets) {
    if (names_argument_of_any_tool(*rule, target)) {
      summary.notes.push_back(
          {source.line_of(target.selector.at),
           fmt::format("'{} {}' says nothing of tools whose arguments have other names; '*' in "
                       "place of the argument looks at every string",
                       to_string(rule->effect), print(target))});
    }
    if (!looks_at_any_string(target)) continue;
    summary.notes.push_back(
        {source.line_of(target.selector.at),
         fmt::format("'{} {}' looks at every string, but cannot see data that is encoded or split; "
                     "the list of what is allowed is the boundary, not this rule",
                     to_string(rule->effect), print(target))});
  }
}

}  // namespace

namespace {

// A target of a layer, and whom it is about: nothing is a wildcard.
struct Aimed {
  const CompiledTarget* target;
  std::optional<std::string> server;
  std::optional<Permission> tool;
};

std::vector<Aimed> targets_of(const CompiledLayer& layer, Effect effect) {
  std::vector<Aimed> found;
  const auto add = [&](const CompiledTarget& target, std::optional<std::string> server,
                       std::optional<Permission> tool) {
    const auto& rule = layer.rules[target.rule];
    if (rule.effect == effect && !rule.asks_otherwise())
      found.push_back({&target, std::move(server), std::move(tool)});
  };
  for (const auto& [tool, targets] : layer.by_tool) {
    for (const auto& target : targets) add(target, tool.server(), tool);
  }
  for (const auto& [server, targets] : layer.by_server) {
    for (const auto& target : targets) add(target, server, std::nullopt);
  }
  for (const auto& target : layer.everywhere) add(target, std::nullopt, std::nullopt);
  return found;
}

bool is_about(const Aimed& ask, const Aimed& allow) {
  if (ask.tool) return ask.tool == allow.tool;
  return !ask.server || ask.server == allow.server;
}

Result<void> add_text(const std::string& text, Effect effect, const Environment& environment,
                      CompiledLayer& layer) {
  const SourceText source{"a rule", text};
  auto rule = parse_rule(source, effect);
  if (!rule) return pass_on(rule);
  return Loader{environment, layer}.add(*rule, source);
}

// Nothing that the allow admits gets past a deny that catches what the ask catches.
bool catches_all(const Aimed& ask, const Aimed& allow, const Environment& environment) {
  if (ask.target->whole_tool()) return true;
  if (!allow.tool) return false;
  constexpr InclusionBudget kBudget{.steps = 200'000};
  std::vector<CompiledLayer> rest(1);
  std::vector<CompiledLayer> admitted(1);
  const bool is_loaded =
      add_text(whole_tool(*allow.tool), Effect::kAllow, environment, rest.front()) &&
      add_text(ask.target->text, Effect::kDeny, environment, rest.front()) &&
      add_text(allow.target->text, Effect::kAllow, environment, admitted.front());
  return is_loaded && !relate_tool(rest, admitted, *allow.tool, environment, kBudget).in_common;
}

}  // namespace

std::vector<AskedAllow> asked_allows(const std::vector<CompiledLayer>& layers,
                                     const Environment& environment) {
  std::vector<AskedAllow> found;
  for (const auto& layer : layers) {
    const auto asks = targets_of(layer, Effect::kAsk);
    if (asks.empty()) continue;
    for (const auto& allow : targets_of(layer, Effect::kAllow)) {
      const auto by = std::ranges::find_if(asks, [&](const Aimed& ask) {
        return is_about(ask, allow) && catches_all(ask, allow, environment);
      });
      if (by == asks.end()) continue;
      found.push_back({.layer = layer.name,
                       .allow = allow.target->rule_text,
                       .allow_place = allow.target->place,
                       .ask = by->target->rule_text});
    }
  }
  return found;
}

Result<FileSummary> summarize(const SourceText& source) {
  auto file = parse_file(source);
  if (!file) return pass_on(file);
  FileSummary summary;
  for (const auto& item : file->items) {
    if (const auto* statement = std::get_if<ast::Statement>(&item)) {
      add(*statement, source, summary);
      continue;
    }
    const auto& block = std::get<ast::Block>(item);
    if (block.kind == ast::Block::Kind::kProfile) summary.profiles.push_back(block.name);
    for (const auto& statement : block.statements) add(statement, source, summary);
  }
  return summary;
}

}  // namespace mcpac::policy
