#include "policy/explain/lint.h"

#include <fmt/format.h>

#include <algorithm>

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
    summary.names_place_within = summary.names_place_within || names_place_within(*rule, target);
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
