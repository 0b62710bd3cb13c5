// SPDX-License-Identifier: Apache-2.0

#include "policy/explain/lint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/ascii.h"
#include "policy/compare/compare_layers.h"
#include "policy/explain/would_grant.h"
#include "policy/rules/compile_places.h"
#include "policy/sets/string_product.h"
#include "policy/sets/text_automata.h"
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

bool names_place_within(const ast::Rule& rule, const ast::Target& target) {
  if (!target.brackets) return false;
  return std::ranges::any_of(target.brackets->args, [&](const ast::Arg& arg) {
    const bool excepts = std::ranges::any_of(arg.exceptions, [](const ast::Exception& exception) {
      return std::holds_alternative<ast::PathException>(exception.body);
    });
    return excepts || (rule.effect != Effect::kAllow &&
                       std::ranges::any_of(arg.tests, [](const ast::Test& test) {
                         return std::holds_alternative<ast::PathTest>(test.body);
                       }));
  });
}

bool tests_path_of_call(const ast::Target& target) {
  return target.brackets && std::ranges::any_of(target.brackets->args, [](const ast::Arg& arg) {
           return std::ranges::any_of(arg.tests, [](const ast::Test& test) {
             return std::holds_alternative<ast::PathTest>(test.body);
           });
         });
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

// A shortest text that the expression of a deny or ask matches, not empty; nothing where there is
// none, or it cannot be told.
std::optional<std::string> matched_by(const std::string& pattern) {
  const auto nfa = regex_automaton(pattern, DotMatches::kAll);
  StepBudget budget(300'000);
  const auto kinds = nfa ? string_kinds({*nfa, at_least(1)}, budget) : std::nullopt;
  if (!kinds) return std::nullopt;
  for (const auto& kind : *kinds) {
    if (kind.accepted[0] && kind.accepted[1]) return kind.example;
  }
  return std::nullopt;
}

std::string in_other_case(std::string text) {
  for (char& c : text) c = is_upper(c) ? to_lower(c) : is_lower(c) ? static_cast<char>(c - 32) : c;
  return text;
}

// What the expression of a deny or ask leaves out, which its author may have meant.
std::optional<std::string> left_out_by(const std::string& pattern) {
  const auto text = matched_by(pattern);
  if (!text) return std::nullopt;
  RE2::Options options;
  options.set_log_errors(false);
  options.set_dot_nl(true);
  const RE2 expression(pattern, options);
  const auto passes = [&](const std::string& other) { return !RE2::FullMatch(other, expression); };
  const bool front = passes("x " + *text);
  const bool back = passes(*text + " x");
  const std::string other = in_other_case(*text);
  const bool one_case = other != *text && passes(other);
  if (!front && !back && !one_case) return std::nullopt;
  std::vector<std::string> examples;
  if (front || back)
    examples.push_back(print_string((front ? "x " : "") + *text + (back ? " x" : "")));
  if (one_case) examples.push_back(print_string(other));
  const bool choice = pattern.contains('|') && (front || back);
  return fmt::format("{}; for these as well: re /{}{}{}{}/", fmt::join(examples, " and "),
                     one_case ? "(?i)" : "", front ? ".*" : "",
                     choice ? "(" + pattern + ")" : pattern, back ? ".*" : "");
}

// Expressions of a deny or ask, and what goes through beside them.
void note_of_expressions(const ast::Arg& arg, const std::string& place, FileSummary& summary) {
  for (const auto& test : arg.tests) {
    const auto* text = std::get_if<ast::TextTest>(&test.body);
    if (text == nullptr || text->kind != ast::TextTest::Kind::kRegex) continue;
    const auto left_out = left_out_by(text->text);
    if (!left_out) continue;
    summary.notes.push_back({place, fmt::format("an expression is held against the whole text: "
                                                "'{}' lets through {}",
                                                print(test), *left_out)});
  }
}

void note_of_tests(const ast::Rule& rule, const ast::Target& target, const SourceText& source,
                   FileSummary& summary) {
  if (rule.effect == Effect::kAllow || !target.brackets) return;
  for (const auto& arg : target.brackets->args)
    note_of_expressions(arg, source.line_of(target.selector.at), summary);
}

void add(const ast::Statement& statement, const SourceText& source, const ToolSchemas* tools,
         FileSummary& summary) {
  if (std::holds_alternative<ast::SelfTest>(statement)) ++summary.self_tests;
  const auto* rule = std::get_if<ast::Rule>(&statement);
  if (is_place(statement)) add_place(statement, source, summary);
  if (rule == nullptr) return;
  ++summary.rules;
  for (auto& note : left_open(*rule, tools)) {
    note.place = source.line_of(rule->at);
    summary.notes.push_back(std::move(note));
  }
  for (const auto& target : rule->targets) {
    note_of_tests(*rule, target, source, summary);
    summary.names_place_within = summary.names_place_within || names_place_within(*rule, target);
    if (tests_path_of_call(target))
      summary.path_servers.insert(target.selector.server.value_or("*"));
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

Result<FileSummary> summarize(const SourceText& source, const ToolSchemas* tools) {
  auto file = parse_file(source);
  if (!file) return pass_on(file);
  FileSummary summary;
  for (const auto& item : file->items) {
    if (const auto* statement = std::get_if<ast::Statement>(&item)) {
      add(*statement, source, tools, summary);
      continue;
    }
    const auto& block = std::get<ast::Block>(item);
    if (block.kind == ast::Block::Kind::kProfile) summary.profiles.push_back(block.name);
    for (const auto& statement : block.statements) add(statement, source, tools, summary);
  }
  return summary;
}

}  // namespace mcpac::policy
