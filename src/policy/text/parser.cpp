// SPDX-License-Identifier: Apache-2.0

#include "policy/text/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/nearest_name.h"
#include "policy/text/printer.h"

namespace mcpac::policy {
namespace {

// Enough for any policy that people still read; bounds the work of one decision.
constexpr std::size_t kMaxRules = 10'000;
constexpr std::size_t kMaxTargets = 1'000;

const std::vector<std::string> kStatements = {"allow",   "grant", "ask",       "deny",
                                              "use",     "match", "not_match", "policy",
                                              "profile", "files", "network"};

std::optional<Effect> effect_of(std::string_view word) {
  if (word == "allow" || word == "grant") return Effect::kAllow;
  if (word == "ask") return Effect::kAsk;
  if (word == "deny") return Effect::kDeny;
  return std::nullopt;
}

Result<ast::Rule> rule(Lexer& lexer, Effect effect) {
  ast::Rule rule;
  rule.at = lexer.position();
  rule.effect = effect;
  do {
    if (lexer.at_end() && !rule.targets.empty())
      return lexer.expected("another target", "leave out the last ','");
    auto target = detail::target(lexer, effect);
    if (!target) return pass_on(target);
    rule.targets.push_back(std::move(*target));
    if (rule.targets.size() > kMaxTargets) {
      return lexer.error(lexer.position(),
                         fmt::format("more than {} targets in one rule", kMaxTargets));
    }
  } while (lexer.take(","));
  auto clauses = detail::clauses(lexer);
  if (!clauses) return pass_on(clauses);
  rule.clauses = std::move(*clauses);
  return rule;
}

Result<ast::Statement> self_test(Lexer& lexer, ast::SelfTest::Expect expect) {
  ast::SelfTest test;
  test.expect = expect;
  auto selector = detail::selector(lexer);
  if (!selector) return pass_on(selector);
  test.selector = std::move(*selector);
  test.at = test.selector.at;
  auto arguments = lexer.json_object();
  if (!arguments) return pass_on(arguments);
  test.arguments = std::move(*arguments);
  return test;
}

// A statement about places, or nothing where none begins here.
std::optional<Result<ast::Statement>> place(Lexer& lexer) {
  const std::size_t at = lexer.position();
  if (detail::sees_network_deny(lexer)) {
    std::ignore = lexer.take_word("deny");
    std::ignore = lexer.take_word("network");
    return ast::NetworkDeny{at};
  }
  const auto placed = [at](auto parsed) -> Result<ast::Statement> {
    if (!parsed) return pass_on(parsed);
    parsed->at = at;
    return std::move(*parsed);
  };
  if (lexer.take_word("files")) return placed(detail::files_grant(lexer));
  if (lexer.take_word("network")) return placed(detail::network_grant(lexer));
  return std::nullopt;
}

using Meant = std::pair<std::string_view, std::string_view>;

// What a word of another language behind a rule was meant to be; empty where that cannot be told.
std::string clause_for(std::string_view word) {
  constexpr Meant kMeant[] = {{"max", "calls <= 3"},
                              {"call", "calls <= 3"},
                              {"per", "rate 10/min"},
                              {"rates", "rate 10/min"},
                              {"costs", "cost <= 1.00 USD"},
                              {"price", "cost <= 1.00 USD"},
                              {"bytes_in", "bytes in <= 10MB"},
                              {"bytes_out", "bytes out <= 64KB"},
                              {"during", "for 15m"},
                              {"ttl", "for 15m"},
                              {"expire", "until 2027-01-01T00:00:00Z"},
                              {"reason", "because \"…\""},
                              {"limit", "calls <= 3"},
                              {"count", "calls <= 3"},
                              {"times", "calls <= 3"},
                              {"once", "calls <= 1"},
                              {"expires", "until 2027-01-01T00:00:00Z"},
                              {"where", "SERVER.TOOL(ARGUMENT TEST)"},
                              {"with", "SERVER.TOOL(ARGUMENT TEST)"},
                              {"if", "SERVER.TOOL(ARGUMENT TEST)"},
                              {"when", "SERVER.TOOL(ARGUMENT TEST)"}};
  const auto* meant = std::ranges::find(kMeant, word, &Meant::first);
  return meant == std::end(kMeant) ? "" : fmt::format("write {}", meant->second);
}

bool is_clause(std::string_view word) {
  constexpr std::string_view kClauses[] = {"calls", "rate",  "bytes",   "cost",     "for",
                                           "until", "audit", "because", "otherwise"};
  return std::ranges::find(kClauses, word) != std::end(kClauses);
}

// The '&&' of another language, taken; empty where none stands here.
std::string take_and(Lexer& lexer) {
  for (const std::string_view sign : {"&&", "&"}) {
    if (lexer.take(sign)) return std::string(sign);
  }
  for (const std::string_view word : {"and", "AND"}) {
    if (lexer.take_word(word)) return std::string(word);
  }
  return {};
}

// The tests that stand here without brackets ("path within ./data"), printed; empty: none do.
std::string bare_tests(Lexer lexer) {
  if (take_and(lexer).empty()) {
    for (const std::string_view word : {"where", "with", "if", "when"}) {
      if (lexer.take_word(word)) break;
    }
  }
  const auto word = lexer.peek_word();
  if (!lexer.sees_name() || is_clause(word) || !clause_for(word).empty()) return {};
  const auto tests = detail::brackets(lexer);
  return tests && !tests->args.empty() ? print(*tests) : std::string();
}

// The same of a word that a statement begins with.
std::string statement_for(Lexer& lexer, const std::string& word) {
  constexpr Meant kMeant[] = {
      {"permit", "allow"},  {"approve", "allow"}, {"accept", "allow"}, {"let", "allow"},
      {"allowed", "allow"}, {"block", "deny"},    {"forbid", "deny"},  {"reject", "deny"},
      {"refuse", "deny"},   {"disallow", "deny"}, {"never", "deny"},   {"confirm", "ask"},
      {"prompt", "ask"},    {"question", "ask"},  {"file", "files"},   {"folder", "files"}};
  const auto* meant = std::ranges::find(kMeant, word, &Meant::first);
  if (meant != std::end(kMeant)) return fmt::format("write {}", meant->second);
  if (const auto tests = bare_tests(lexer); !tests.empty())
    return fmt::format("put the tests of the rule in brackets: SERVER.TOOL({})", tests);
  if (auto clause = clause_for(word); !clause.empty()) return clause;
  std::ignore = lexer.take_word(word);
  if (lexer.adjacent('.'))
    return fmt::format("write allow, ask or deny before {}.", printable(word, 40));
  return did_you_mean(word, kStatements);
}

// Where no word stands.
std::string statement_instead(Lexer& lexer) {
  Lexer ahead = lexer;
  if (const auto sign = take_and(ahead); !sign.empty() && is_clause(ahead.peek_word()))
    return fmt::format("leave out '{}': clauses stand side by side behind the rule", sign);
  if (const auto tests = bare_tests(lexer); !tests.empty())
    return fmt::format("put all tests of the rule in its brackets: SERVER.TOOL(…, {})", tests);
  if (lexer.sees("{"))
    return "a policy is no JSON: a statement a line, such as allow SERVER.TOOL(path within ./data)";
  if (lexer.sees(";")) return "nothing stands between statements: write one a line";
  if (lexer.sees("//") || lexer.sees("/*") || lexer.sees("--")) return "a comment begins with #";
  if (lexer.adjacent('*'))
    return "'*' stands for all tools of a server, and for no part of a name: write SERVER.*, or a "
           "rule for each tool";
  return "";
}

Result<ast::Statement> statement(Lexer& lexer) {
  const std::size_t at = lexer.position();
  if (auto parsed = place(lexer)) return std::move(*parsed);
  const std::string word(lexer.peek_word());
  if (const auto effect = effect_of(word)) {
    std::ignore = lexer.take_word(word);
    auto parsed = rule(lexer, *effect);
    if (!parsed) return pass_on(parsed);
    parsed->at = at;
    return std::move(*parsed);
  }
  if (lexer.take_word("match")) return self_test(lexer, ast::SelfTest::Expect::kMatch);
  if (lexer.take_word("not_match")) return self_test(lexer, ast::SelfTest::Expect::kNotMatch);
  if (lexer.take_word("use")) {
    auto profile = lexer.string();
    if (!profile) return pass_on(profile);
    return ast::Use{at, std::move(*profile)};
  }
  if (word.empty())
    return lexer.expected("allow, ask, deny, files, network, use, match or not_match",
                          statement_instead(lexer));
  return lexer.error(at, fmt::format("unknown word '{}'", printable(word, 40)),
                     "a statement begins with allow, ask, deny, files, network, use, match or "
                     "not_match; a rule ends "
                     "with its clauses",
                     statement_for(lexer, word));
}

// A statement, noted in the layout.
Result<ast::Statement> placed_statement(Lexer& lexer, Layout* layout) {
  const std::size_t at = lexer.position();
  auto parsed = statement(lexer);
  if (parsed && layout != nullptr)
    layout->pieces.push_back({Piece::Kind::kStatement, at, lexer.token_end(), print(*parsed)});
  return parsed;
}

Result<ast::Block> block(Lexer& lexer, ast::Block::Kind kind, std::size_t begin, Layout* layout) {
  ast::Block block;
  block.kind = kind;
  block.at = lexer.position();
  if (const auto bare = lexer.peek_word(); !bare.empty())
    return lexer.expected("a name in double quotes",
                          fmt::format("write \"{}\"", printable(bare, 40)));
  auto name = lexer.string();
  if (!name) return pass_on(name);
  block.name = std::move(*name);
  if (!lexer.take("{")) return lexer.expected("'{'");
  if (layout != nullptr)
    layout->pieces.push_back({Piece::Kind::kOpen, begin, lexer.token_end(), print_opening(block)});
  while (!lexer.take("}")) {
    if (lexer.at_end())
      return lexer.expected("'}'", fmt::format("close the block {}", print_string(block.name)));
    auto parsed = placed_statement(lexer, layout);
    if (!parsed) return pass_on(parsed);
    block.statements.push_back(std::move(*parsed));
    if (block.statements.size() > kMaxRules) {
      return lexer.error(block.at, fmt::format("more than {} statements in one block", kMaxRules));
    }
  }
  if (layout != nullptr)
    layout->pieces.push_back({Piece::Kind::kClose, lexer.token_end() - 1, lexer.token_end(), "}"});
  return block;
}

Result<Lexer> open(const SourceText& source) {
  if (source.text.size() > Lexer::kMaxText) {
    return fail(ErrorId::kRuleSyntax,
                fmt::format("this rule text has more than {} bytes", Lexer::kMaxText),
                {.where = source.name});
  }
  return Lexer(source);
}

// What to write where a rule of an option does not end. `target`: the last of the rule.
std::string behind_rule(Lexer& lexer, const ast::Target& target) {
  Lexer ahead = lexer;
  if (const auto sign = take_and(ahead); !sign.empty() && is_clause(ahead.peek_word()))
    return fmt::format("leave out '{}': clauses stand side by side behind the rule", sign);
  if (const auto tests = bare_tests(lexer); !tests.empty()) {
    const bool has_some = target.brackets && !target.brackets->args.empty();
    return fmt::format("put the tests in brackets: {}({}{})", print(target.selector),
                       has_some ? print(*target.brackets) + ", " : "", tests);
  }
  if (lexer.sees(";")) return "write each rule in a --grant of its own";
  if (lexer.sees("|") || lexer.sees("&") || lexer.peek_word() == "and" || lexer.peek_word() == "or")
    return "write ',' between tools: kv.get,kv.set";
  if (lexer.sees("<=") || lexer.sees("<"))
    return "name what is limited: calls <= 3, or bytes in <= 10MB";
  if (lexer.sees_number())
    return "name what the number limits: calls <= 3 for the whole run, or rate 10/min";
  if (auto meant = clause_for(lexer.peek_word()); !meant.empty()) return meant;
  static const std::vector<std::string> kClauses = {"calls", "rate",  "bytes",   "cost",     "for",
                                                    "until", "audit", "because", "otherwise"};
  return did_you_mean(lexer.peek_word(), kClauses);
}

}  // namespace

Result<ast::Rule> parse_rule(const SourceText& source, Effect effect) {
  auto lexer = open(source);
  if (!lexer) return pass_on(lexer);
  auto parsed = rule(*lexer, effect);
  if (!parsed) return parsed;
  if (lexer->at_end()) return parsed;
  const std::size_t at = lexer->position();
  if (lexer->sees(",")) {
    return lexer->error(at, "expected the end of the rule, found ','", "clauses end a rule",
                        "write the next target in a --grant of its own");
  }
  if (lexer->sees(".")) {
    return lexer->error(
        at, "expected the end of the rule, found '.'",
        "a selector is server.tool; a name with dots, slashes or blanks is a JSON string",
        "quote the name of the tool, e.g. gh.\"issues.create\"");
  }
  if (lexer->adjacent('*')) {
    return lexer->error(at, "expected the end of the rule, found '*'",
                        "'*' stands for all tools of a server: what a part of a name would cover "
                        "changes with the server",
                        "write SERVER.*, or a rule for each tool");
  }
  return lexer->expected("the end of the rule", behind_rule(*lexer, parsed->targets.back()));
}

Result<ast::Statement> parse_place(const SourceText& source) {
  auto lexer = open(source);
  if (!lexer) return pass_on(lexer);
  auto parsed = place(*lexer);
  if (!parsed) return lexer->expected("files, network or deny network");
  if (!*parsed || lexer->at_end()) return std::move(*parsed);
  return lexer->expected("the end of the statement");
}

Result<ast::File> parse_file(const SourceText& source, Layout* layout) {
  auto lexer = open(source);
  if (!lexer) return pass_on(lexer);
  ast::File file;
  while (!lexer->at_end()) {
    const std::size_t begin = lexer->position();
    const bool is_policy = lexer->take_word("policy");
    if (is_policy || lexer->take_word("profile")) {
      auto parsed =
          block(*lexer, is_policy ? ast::Block::Kind::kPolicy : ast::Block::Kind::kProfile, begin,
                layout);
      if (!parsed) return pass_on(parsed);
      file.items.emplace_back(std::move(*parsed));
    } else {
      auto parsed = placed_statement(*lexer, layout);
      if (!parsed) return pass_on(parsed);
      file.items.emplace_back(std::move(*parsed));
    }
    if (file.items.size() > kMaxRules) {
      return lexer->error(0, fmt::format("more than {} statements in one file", kMaxRules));
    }
  }
  if (layout != nullptr) layout->comments = lexer->comments();
  return file;
}

Result<ast::Brackets> parse_brackets(const SourceText& source) {
  auto lexer = open(source);
  if (!lexer) return pass_on(lexer);
  auto parsed = detail::brackets(*lexer);
  if (!parsed) return parsed;
  if (!lexer->at_end()) return lexer->expected("',' or the end of the tests");
  return parsed;
}

}  // namespace mcpac::policy
