// SPDX-License-Identifier: Apache-2.0

// Compiled rules: the loader's output, ready to decide calls with.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/environment.h"
#include "policy/match/matcher.h"
#include "policy/rules/compile_places.h"
#include "policy/rules/meter.h"
#include "policy/text/source_text.h"

namespace mcpac::policy {

struct CompiledArg {
  std::string text;  // as printed, for reasons
  std::string path_text;
  std::vector<ast::Step> steps;  // none: any string anywhere
  ast::Arg::Presence presence = ast::Arg::Presence::kRequired;
  std::vector<MatcherPtr> matchers;
  std::vector<std::string> matcher_texts;
  // Sources of the matchers, for questions about all values instead of one.
  std::vector<ast::Test> tests;
  std::vector<ast::Exception> exceptions;
};

// The arguments that a rule names, as a tree over the call: what is not in it must be absent.
struct NameTree {
  std::map<std::string, NameTree, std::less<>> members;
  std::unique_ptr<NameTree> elements;
  bool anything = false;  // "any": whatever is below
  [[nodiscard]] bool is_leaf() const { return members.empty() && elements == nullptr; }
};

struct CompiledBrackets {
  std::vector<CompiledArg> args;
  bool rest = false;
  NameTree names;
};

struct CompiledTarget {
  std::size_t rule = 0;  // index into the layer's rules
  std::string text;
  // The rule as if it had this target alone: what people are shown of a list that they granted.
  std::string rule_text;
  std::string place;  // "mcpac.policy:12", "--grant"
  std::optional<CompiledBrackets> brackets;
  bool is_wildcard = false;  // `server.*`, `*.*`: it covers tools by no name of theirs
  // Of an allow with a wildcard: tools that lack an argument which it tests, and which that is. A
  // call of theirs could bring one of that name all the same, which means nothing to the tool and
  // opens the rest to it.
  std::map<Permission, std::string> leaves_out = {};
  // Brackets that test nothing: t(..), the same as t.
  [[nodiscard]] bool whole_tool() const {
    return !brackets || (brackets->args.empty() && brackets->rest);
  }
};

struct CompiledRule {
  std::string text;
  std::string place;  // "mcpac.policy:12", "--grant"
  Effect effect = Effect::kAllow;
  ast::Clauses clauses;
  Usage used;  // per run, shared by all targets of the rule
  // Asks about nothing that an allow of its layer admits.
  [[nodiscard]] bool asks_otherwise() const { return effect == Effect::kAsk && clauses.otherwise; }
  [[nodiscard]] bool has_meter() const {
    return clauses.calls || clauses.rate || clauses.bytes_in || clauses.bytes_out || clauses.cost;
  }
  [[nodiscard]] bool is_limited() const { return has_meter() || clauses.duration || clauses.until; }
};

// One layer: rules, and where to find the targets that cover a tool.
struct CompiledLayer {
  std::string name;
  std::vector<CompiledRule> rules;
  std::map<Permission, std::vector<CompiledTarget>> by_tool;
  std::map<std::string, std::vector<CompiledTarget>, std::less<>> by_server;  // "server.*"
  std::vector<CompiledTarget> everywhere;                                     // "*.*"
  // Most policies need neither: then calls are not searched for them.
  bool has_meter = false;
  bool has_audit_clause = false;
  bool has_otherwise = false;
  LayerPlaces places;
};

// "mcpac.spawn" and the like: never covered by a wildcard.
[[nodiscard]] bool is_control(const Permission& permission);

struct Loader {
  const Environment& environment;
  CompiledLayer& layer;
  // Checks names, compiles tests, adds the rule to the layer.
  Result<void> add(const ast::Rule& rule, const SourceText& source);
};

// The arguments of a target on their own: brackets of a Narrow.
Checked<CompiledBrackets> compile_brackets(const ast::Brackets& brackets, const World& world);

}  // namespace mcpac::policy
