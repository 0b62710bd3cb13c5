#include "policy/explain/lint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>

#include "core/ascii.h"
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

// Tests of a deny or ask that compare a text, and what goes through beside it.
void note_of_comparisons(const ast::Rule& rule, const ast::Arg& arg, std::string place,
                         FileSummary& summary) {
  const std::string_view catches = rule.effect == Effect::kDeny ? "catches" : "asks about";
  const bool reads_url = std::ranges::any_of(arg.tests, is_url_test);
  for (const auto& test : arg.tests) {
    const auto* text = std::get_if<ast::TextTest>(&test.body);
    const auto* equal = std::get_if<ast::EqualTest>(&test.body);
    if (text != nullptr && text->kind == ast::TextTest::Kind::kRegex) {
      const auto left_out = left_out_by(text->text);
      if (!left_out) continue;
      summary.notes.push_back({place, fmt::format("an expression is held against the whole text: "
                                                  "'{}' lets through {}",
                                                  print(test), *left_out)});
      continue;
    }
    const std::string word = text != nullptr    ? text->text
                             : equal != nullptr ? print(equal->literal)
                                                : "";
    const bool excludes = equal != nullptr && equal->sense == ast::EqualTest::Sense::kNotEqual;
    if (reads_url || excludes || !word.contains("://")) continue;
    summary.notes.push_back(
        {place,
         fmt::format("'{} {}' compares a text, and a URL has many ('HTTPS://', ':443', '%61', "
                     "'//'); 'host', and the same test beside it, {} them all",
                     to_string(rule.effect), print(arg), catches)});
  }
}

void note_of_tests(const ast::Rule& rule, const ast::Target& target, const SourceText& source,
                   FileSummary& summary) {
  if (rule.effect == Effect::kAllow || !target.brackets) return;
  for (const auto& arg : target.brackets->args)
    note_of_comparisons(rule, arg, source.line_of(target.selector.at), summary);
}

void add(const ast::Statement& statement, const SourceText& source, FileSummary& summary) {
  if (std::holds_alternative<ast::SelfTest>(statement)) ++summary.self_tests;
  const auto* rule = std::get_if<ast::Rule>(&statement);
  if (is_place(statement)) add_place(statement, source, summary);
  if (rule == nullptr) return;
  ++summary.rules;
  for (auto& open : open_ends(*rule))
    summary.notes.push_back({source.line_of(rule->at), std::move(open)});
  for (const auto& target : rule->targets) {
    note_of_tests(*rule, target, source, summary);
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
