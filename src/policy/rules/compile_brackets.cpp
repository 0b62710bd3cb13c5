// SPDX-License-Identifier: Apache-2.0

// From brackets to matchers, and the checks that need no names: what an effect forbids, what can
// never hold.
#include <fmt/format.h>

#include <algorithm>

#include "policy/match/parameter_names.h"
#include "policy/match/path_pattern.h"
#include "policy/match/readings.h"
#include "policy/rules/compiled.h"
#include "policy/text/printer.h"

namespace mcpac::policy {
namespace {

using Presence = ast::Arg::Presence;

Checked<void> check_effect(const ast::Arg& arg, Effect effect) {
  if (effect == Effect::kAllow) {
    if (!arg.path.any_string()) return {};
    return complain(arg.at, "'*' as an argument in an allow",
                    "an allow names the arguments that it admits; '*' is for deny and ask",
                    "name the argument, or write '..' for those that are not named");
  }
  if (arg.presence == Presence::kOptional) {
    return complain(
        arg.at, fmt::format("'?' in {} {}", effect == Effect::kAsk ? "an" : "a", to_string(effect)),
        "it would change nothing: a test there holds only when the argument is present",
        "leave out the '?'");
  }
  if (effect == Effect::kDeny && !arg.exceptions.empty()) {
    return complain(arg.exceptions.front().at, "an exception in a deny", "a deny has no exceptions",
                    "deny less, or put the exception into the allow");
  }
  if (arg.path.any_string() && (arg.presence == Presence::kAbsent || arg.tests.empty())) {
    return complain(arg.at, "'*' needs a test", "it stands for any string anywhere in the call");
  }
  return {};
}

// Each word of a command may be a place, also to a rule that names the argument.
MeantAs meaning_of(const ast::ArgPath& path) {
  for (auto step = path.steps.rbegin(); step != path.steps.rend(); ++step) {
    const auto* member = std::get_if<ast::Member>(&*step);
    if (member == nullptr) continue;
    return meaning_by_name(member->name) == MeantAs::kCommand ? MeantAs::kCommand : MeantAs::kNamed;
  }
  return MeantAs::kNamed;
}

Checked<MatcherPtr> compile_test(const ast::Test& test, const ast::Arg& arg, const World& world) {
  if (const auto* path = std::get_if<ast::PathTest>(&test.body))
    return compile_path(test, *path, arg.exceptions, meaning_of(arg.path), world);
  if (const auto* text = std::get_if<ast::TextTest>(&test.body))
    return compile_text(test, *text, world.effect);
  if (const auto* count = std::get_if<ast::CountTest>(&test.body))
    return compile_count(test, *count);
  if (std::holds_alternative<ast::OneLineTest>(test.body)) return compile_one_line();
  return compile_scalar(test);
}

Subject subject_of(const ast::Test& test) {
  if (std::holds_alternative<ast::PathTest>(test.body)) return Subject::kPath;
  if (std::holds_alternative<ast::CountTest>(test.body)) return Subject::kLength;
  if (std::holds_alternative<ast::InTest>(test.body)) return Subject::kLiteral;
  const auto* equal = std::get_if<ast::EqualTest>(&test.body);
  if (equal == nullptr) return Subject::kText;
  return equal->sense == ast::EqualTest::Sense::kEqual ? Subject::kLiteral : Subject::kExcluded;
}

// Decisions of an old record are made as they were then: by the value alone.
MatcherPtr read(MatcherPtr matcher, Subject subject, const World& world) {
  return world.environment.bases.by_identity ? with_readings(std::move(matcher), subject)
                                             : std::move(matcher);
}

Checked<void> add_exclusion(const ast::Arg& arg, const World& world, CompiledArg& compiled) {
  const bool plain = std::ranges::any_of(arg.exceptions, [](const ast::Exception& e) {
    return std::holds_alternative<ast::Literal>(e.body) ||
           std::holds_alternative<ast::RangeTest>(e.body);
  });
  if (!plain) return {};
  const bool globs = std::ranges::any_of(arg.tests, [](const ast::Test& t) {
    const auto* text = std::get_if<ast::TextTest>(&t.body);
    return text != nullptr && text->kind == ast::TextTest::Kind::kLike;
  });
  auto exclusion =
      compile_exclusion(arg.exceptions, globs ? StringsAre::kGlobs : StringsAre::kTexts);
  if (!exclusion) return std::unexpected(exclusion.error());
  compiled.matchers.push_back(read(std::move(*exclusion), Subject::kExcluded, world));
  compiled.matcher_texts.emplace_back("except");
  return {};
}

Checked<void> add_tests(const ast::Arg& arg, const World& world, CompiledArg& compiled) {
  std::vector<ast::Test> url_tests;
  std::string url_text;
  for (const auto& test : arg.tests) {
    if (is_url_test(test)) {
      url_tests.push_back(test);
      url_text += (url_text.empty() ? "" : " ") + print(test);
      continue;
    }
    auto matcher = compile_test(test, arg, world);
    if (!matcher) return std::unexpected(matcher.error());
    // What an allow names by "==" and "in" is meant as it is written, also a list.
    const bool is_literal =
        world.effect == Effect::kAllow && !std::holds_alternative<ast::TextTest>(test.body);
    if (!is_literal && is_text_in_url(test, arg.tests)) *matcher = in_url(std::move(*matcher));
    compiled.matchers.push_back(read(std::move(*matcher), subject_of(test), world));
    compiled.matcher_texts.push_back(print(test));
  }
  if (url_tests.empty()) return add_exclusion(arg, world, compiled);
  auto matcher = compile_url(url_tests, arg.exceptions);
  if (!matcher) return std::unexpected(matcher.error());
  compiled.matchers.push_back(read(std::move(*matcher), Subject::kPlace, world));
  compiled.matcher_texts.push_back(std::move(url_text));
  return {};
}

// Tests that no value can pass together: types that exclude each other, or a list of literals that
// all fail the rest. Paths and URLs are left out: whether they hold depends on the world.
Checked<void> check_possible(const ast::Arg& arg, const CompiledArg& compiled) {
  Types common = kAllTypes;
  for (const auto& matcher : compiled.matchers)
    common = static_cast<Types>(common & matcher->types());
  const auto never = [&] {
    return complain(arg.at, fmt::format("no value passes '{}'", compiled.text),
                    "a rule that can never match is a mistake");
  };
  if (common == 0) return never();
  if (arg.path.any_string() && (common & kStringType) == 0) return never();
  const std::string nobody;
  const CallView view{nobody, Reading::kAdmit, false};
  for (const auto& test : arg.tests) {
    std::vector<ast::Literal> literals;
    if (const auto* in = std::get_if<ast::InTest>(&test.body)) literals = in->literals;
    const auto* equal = std::get_if<ast::EqualTest>(&test.body);
    if (equal != nullptr && equal->sense == ast::EqualTest::Sense::kEqual)
      literals = {equal->literal};
    if (literals.empty()) continue;
    const bool has_world = std::ranges::any_of(arg.tests, [](const ast::Test& t) {
      return is_url_test(t) || std::holds_alternative<ast::PathTest>(t.body);
    });
    if (has_world) continue;
    const bool one_passes = std::ranges::any_of(literals, [&](const ast::Literal& literal) {
      const auto value = parse_json(print(literal));
      return !value || std::ranges::all_of(compiled.matchers, [&](const auto& m) {
        return m->match(*value, view) == Outcome::kPass;
      });
    });
    if (!one_passes) return never();
  }
  return {};
}

// The bounds of a number, from all tests of one argument.
Checked<void> check_interval(const ast::Arg& arg) {
  const Decimal* low = nullptr;
  const Decimal* high = nullptr;
  bool open = false;
  const auto raise = [&](const Decimal& value, bool strict) {
    if (low == nullptr || value > *low) low = &value;
    open = open || strict;
  };
  const auto lower = [&](const Decimal& value, bool strict) {
    if (high == nullptr || value < *high) high = &value;
    open = open || strict;
  };
  for (const auto& test : arg.tests) {
    if (const auto* range = std::get_if<ast::RangeTest>(&test.body)) {
      raise(range->low.value, false);
      lower(range->high.value, false);
    } else if (const auto* bound = std::get_if<ast::BoundTest>(&test.body)) {
      using Order = ast::BoundTest::Order;
      if (bound->order == Order::kGreater || bound->order == Order::kGreaterEqual) {
        raise(bound->bound.value, bound->order == Order::kGreater);
      } else {
        lower(bound->bound.value, bound->order == Order::kLess);
      }
    }
  }
  if (low == nullptr || high == nullptr || *low < *high || (*low == *high && !open)) return {};
  return complain(arg.at, fmt::format("no number passes '{}'", print(arg)),
                  "a rule that can never match is a mistake");
}

void name(NameTree& tree, const CompiledArg& arg) {
  NameTree* at = &tree;
  for (const auto& step : arg.steps) {
    if (const auto* member = std::get_if<ast::Member>(&step)) {
      at = &at->members[member->name];
    } else {
      if (!at->elements) at->elements = std::make_unique<NameTree>();
      at = at->elements.get();
    }
  }
  if (arg.matchers.empty() && arg.presence != Presence::kAbsent) at->anything = true;
}

}  // namespace

Checked<CompiledBrackets> compile_brackets(const ast::Brackets& brackets, const World& world) {
  CompiledBrackets compiled;
  compiled.rest = brackets.rest;
  for (const auto& arg : brackets.args) {
    if (auto checked = check_effect(arg, world.effect); !checked)
      return std::unexpected(checked.error());
    if (auto checked = check_interval(arg); !checked) return std::unexpected(checked.error());
    CompiledArg made{.text = print(arg),
                     .path_text = print(arg.path),
                     .steps = arg.path.steps,
                     .presence = arg.presence,
                     .matchers = {},
                     .matcher_texts = {},
                     .tests = arg.tests,
                     .exceptions = arg.exceptions};
    if (auto added = add_tests(arg, world, made); !added) return std::unexpected(added.error());
    if (auto checked = check_possible(arg, made); !checked) return std::unexpected(checked.error());
    name(compiled.names, made);
    compiled.args.push_back(std::move(made));
  }
  return compiled;
}

}  // namespace mcpac::policy
