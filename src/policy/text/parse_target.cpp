// SPDX-License-Identifier: Apache-2.0

// Targets: selectors, brackets, argument paths, exceptions.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "core/printable.h"
#include "policy/text/parser.h"

namespace mcpac::policy::detail {
namespace {

constexpr std::size_t kMaxArgs = 200;  // the widest real tool schema has 80 members
constexpr std::size_t kMaxSteps = 64;  // half the depth that a call may have
constexpr std::size_t kMaxTests = 64;
constexpr std::size_t kMaxExceptions = 1'000;

Result<ast::ArgPath> arg_path(Lexer& lexer) {
  ast::ArgPath path;
  if (lexer.take("*")) return path;
  if (!lexer.sees_name())
    return lexer.expected("an argument, '*', '..' or ')'", "e.g. path within ./data");
  while (true) {
    auto name = lexer.name();
    if (!name) return pass_on(name);
    path.steps.emplace_back(ast::Member{std::move(*name)});
    while (lexer.take("[*]")) path.steps.emplace_back(ast::Elements{});
    if (path.steps.size() > kMaxSteps) {
      return lexer.error(lexer.position(),
                         fmt::format("more than {} steps in one path", kMaxSteps));
    }
    if (!lexer.adjacent('.') || lexer.sees("..") || !lexer.take(".")) return path;
    if (!lexer.sees_name())
      return lexer.expected("the name of a member", "e.g. options.depth <= 3");
  }
}

Result<void> exceptions(Lexer& lexer, ast::Arg& arg) {
  if (!lexer.take("{"))
    return lexer.expected("'{'", "a list stands in braces, e.g. except {./data/private}");
  do {
    auto parsed = exception(lexer, arg.tests);
    if (!parsed) return pass_on(parsed);
    arg.exceptions.push_back(std::move(*parsed));
    if (arg.exceptions.size() > kMaxExceptions) {
      return lexer.error(arg.at, fmt::format("more than {} exceptions", kMaxExceptions));
    }
  } while (lexer.take(","));
  if (!lexer.take("}")) return lexer.expected("',' or '}'", kBetweenItems);
  return {};
}

Result<void> tests(Lexer& lexer, ast::Arg& arg) {
  if (lexer.take_word("any")) return {};
  if (lexer.peek_word() == "absent") {
    if (arg.presence == ast::Arg::Presence::kOptional) {
      return lexer.error(lexer.position(), "'absent' takes no '?'",
                         "'?' means that the argument may be absent, 'absent' that it must be",
                         "leave out the '?'");
    }
    std::ignore = lexer.take_word("absent");
    arg.presence = ast::Arg::Presence::kAbsent;
    return {};
  }
  do {
    auto parsed = test(lexer);
    if (!parsed) return pass_on(parsed);
    arg.tests.push_back(std::move(*parsed));
    if (arg.tests.size() > kMaxTests) {
      return lexer.error(arg.at, fmt::format("more than {} tests on one argument", kMaxTests));
    }
  } while (sees_test(lexer));
  if (lexer.take_word("except")) return exceptions(lexer, arg);
  return {};
}

Result<ast::Arg> argument(Lexer& lexer) {
  ast::Arg arg;
  arg.at = lexer.position();
  if (lexer.take("?")) arg.presence = ast::Arg::Presence::kOptional;
  auto path = arg_path(lexer);
  if (!path) return pass_on(path);
  arg.path = std::move(*path);
  if (auto parsed = tests(lexer, arg); !parsed) return pass_on(parsed);
  return arg;
}

constexpr std::string_view kBetween = "'.' between server and tool";

// Brackets that neither go on nor end: what was meant, where that can be told.
std::unexpected<Error> expected_end(Lexer& lexer) {
  std::string fix;
  if (lexer.at_end()) fix = "close the brackets with )";
  if (lexer.sees(";")) fix = "write ',' between arguments";
  if (lexer.sees("&") || lexer.peek_word() == "and")
    fix = "write ',' between arguments; several tests of one stand side by side, and all must hold";
  if (lexer.sees("|") || lexer.peek_word() == "or")
    fix =
        "write a rule for each: one that admits the call is enough; for values, in {\"a\", \"b\"}";
  return lexer.expected("a test, ',' or ')'", std::move(fix));
}

// "mcp__fs__read" and "fs__read", as some clients call tools: what is meant; empty otherwise.
std::string with_dots(std::string_view name) {
  if (name.starts_with("mcp__")) name.remove_prefix(5);
  const auto at = name.find("__");
  if (at == std::string_view::npos || at == 0 || at + 2 == name.size()) return {};
  return printable(fmt::format("{}.{}", name.substr(0, at), name.substr(at + 2)), 120);
}

// The name behind "fs/", "fs:" or "fs ", as far as it is one and no word of a clause; empty
// otherwise.
std::string tool_apart(Lexer lexer) {
  constexpr std::string_view kNoTools[] = {"calls",     "rate",  "bytes_in", "bytes_out", "cost",
                                           "for",       "until", "because",  "audit",     "within",
                                           "otherwise", "allow", "ask",      "deny",      "per"};
  const bool is_mark = lexer.take("/") || lexer.take(":") || lexer.take("#");
  const auto word = std::string(lexer.peek_word());
  const bool is_word = std::ranges::find(kNoTools, word) != std::end(kNoTools);
  const bool is_name = !word.empty() && word.contains('_');
  return (is_mark ? !word.empty() : is_name && !is_word) ? printable(word, 80) : std::string();
}

}  // namespace

Result<ast::Selector> selector(Lexer& lexer, std::optional<Effect> effect) {
  ast::Selector selector;
  selector.at = lexer.position();
  if (lexer.take("*")) {
    if (!lexer.take("."))
      return lexer.expected(kBetween,
                            effect == Effect::kDeny
                                ? "write *.* for all tools of all servers"
                                : "write SERVER.* for all tools of one server, a rule each");
    selector.tool_at = lexer.position();
    if (lexer.take("*")) return selector;
    return lexer.error(selector.at, "there is no selector *.tool",
                       "a tool name means something only together with its server",
                       "name the server, or write *.*");
  }
  if (!lexer.sees_name())
    return lexer.expected("a server", "write SERVER.TOOL, or SERVER.* for all tools of one server");
  auto server = lexer.name();
  if (!server) return pass_on(server);
  selector.server = std::move(*server);
  if (lexer.sees("::")) {
    return lexer.error(lexer.position(), "'::' between server and tool",
                       "grants use the original names; C++ has them as mcp::server::tool",
                       "write server.tool, as `mcpac tools list` does");
  }
  if (!lexer.take(".")) {
    // "kv->get": the '-' counts as one of the name.
    const bool is_arrow = selector.server->ends_with('-') && lexer.take(">");
    if (is_arrow) selector.server->pop_back();
    const std::string name = printable(*selector.server, 40);
    if (is_arrow && lexer.sees_name())
      return lexer.error(selector.at, "'->' between server and tool", "a selector is server.tool",
                         fmt::format("write {}.{}", name, printable(lexer.peek_word(), 80)));
    const bool is_verb = name == "allow" || name == "ask" || name == "deny";
    if (is_verb && !lexer.at_end() && !lexer.sees(",")) {
      return lexer.error(selector.at, fmt::format("'{}' before a rule that has its verb", name),
                         "on the command line the option is the verb: --grant allows, --ask asks, "
                         "--deny denies; in a file it stands once, before the rule",
                         fmt::format("--{} RULE", name == "allow" ? "grant" : name));
    }
    const bool is_clause = name == "calls" || name == "rate" || name == "cost";
    if (is_clause && (lexer.sees("<") || lexer.sees_number()))
      return lexer.expected(kBetween, "leave out the ',' before the clause");
    if (auto meant = with_dots(*selector.server); !meant.empty())
      return lexer.expected(kBetween, fmt::format("write {}", meant));
    if (auto tool = tool_apart(lexer); !tool.empty())
      return lexer.expected(kBetween, fmt::format("write {}.{}", name, tool));
    return lexer.expected(
        kBetween, fmt::format("write {0}.TOOL for one tool of a server {0}, {0}.* for all of them, "
                              "SERVER.{0} for a tool {0}",
                              name));
  }
  selector.tool_at = lexer.position();
  if (lexer.take("*")) return selector;
  if (!lexer.sees_name()) {
    return lexer.expected("a tool or '*'",
                          "`mcpac tools list` names the tools; '*' stands for all of the server");
  }
  auto tool = lexer.name();
  if (!tool) return pass_on(tool);
  selector.tool = std::move(*tool);
  if (*selector.server == "mcp" && lexer.adjacent('.')) {
    const std::size_t at = lexer.position();
    std::ignore = lexer.take(".");
    const auto word = std::string(lexer.peek_word());
    return lexer.error(at, "'mcp.' before a server and its tool",
                       "mcp:: is the namespace of C++; grants use the original names",
                       fmt::format("write {}.{}", printable(*selector.tool, 80),
                                   word.empty() ? "TOOL" : printable(word, 80)));
  }
  return selector;
}

Result<ast::Brackets> brackets(Lexer& lexer) {
  ast::Brackets brackets;
  if (lexer.sees(")") || lexer.at_end()) return brackets;
  do {
    const std::size_t at = lexer.position();
    if (lexer.take("..")) {
      if (brackets.rest)
        return lexer.error(at, "'..' stands twice in these brackets", "", "keep one of them");
      brackets.rest = true;
      continue;
    }
    auto arg = argument(lexer);
    if (!arg) return pass_on(arg);
    brackets.args.push_back(std::move(*arg));
    if (brackets.args.size() > kMaxArgs) {
      return lexer.error(at, fmt::format("more than {} arguments in one rule", kMaxArgs));
    }
  } while (lexer.take(","));
  return brackets;
}

Result<ast::Target> target(Lexer& lexer, Effect effect) {
  ast::Target target;
  auto parsed = selector(lexer, effect);
  if (!parsed) return pass_on(parsed);
  target.selector = std::move(*parsed);
  if (!lexer.take("(")) return target;
  auto inside = brackets(lexer);
  if (!inside) return pass_on(inside);
  if (!lexer.take(")")) return expected_end(lexer);
  target.brackets = std::move(*inside);
  return target;
}

}  // namespace mcpac::policy::detail
