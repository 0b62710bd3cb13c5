// SPDX-License-Identifier: Apache-2.0

// Lint: summary of a policy file, and warnings to its author though it loads.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "policy/effect.h"
#include "policy/environment.h"
#include "policy/explanation.h"
#include "policy/match/parameter_names.h"
#include "policy/rules/compiled.h"
#include "policy/text/ast.h"
#include "policy/text/source_text.h"

namespace mcpac::policy {

struct Note {
  std::string place;  // "mcpac.policy:12"
  std::string text;
  std::string kind =
      {};  // for programs: "dead", "shadowed", …; empty where there is no word for it
  std::string why = {};
  std::string fix = {};
};

struct FileSummary {
  std::size_t rules = 0;
  std::size_t self_tests = 0;
  std::size_t places = 0;  // statements about files and the network
  std::vector<std::string> profiles;
  // A rule denies, asks about or excepts a place: folders above it count, too (docs/grants.md).
  bool names_place_within = false;
  // Servers whose paths a rule tests; "*" where a rule over all servers does.
  std::set<std::string> path_servers = {};
  std::vector<Note> notes;
};

// An error where the text does not parse; whether it loads is the loader's affair.
// `tools`: of the lock, whose schemas say which arguments are places; null: their names alone do.
[[nodiscard]] Result<FileSummary> summarize(const SourceText& source,
                                            const ToolSchemas* tools = nullptr);

// Rules that decide nothing beside the others of their file (lint_overlaps.cpp), for a file that
// loads: "doubled" (the same rule twice), "expired" (`until` is over), "dead" (denies take all that
// an allow or an ask is about), "shadowed" (an ask takes all that an allow admits; another rule of
// the same effect, without a limit, is about all that it is about). Each profile is read beside the
// rules outside of profiles. Bounded, some 50 ms: what is not certain by then is not said.
[[nodiscard]] std::vector<Note> find_overlaps(const SourceText& source,
                                              const Environment& environment);
// Allows with a wildcard, which cover the tools that servers will gain: "new-tools". `environment`,
// where given, tells which they cover now.
[[nodiscard]] std::vector<Note> find_wildcards(const SourceText& source,
                                               const Environment* environment = nullptr);

// What a rule leaves open, a note an argument at most, its `place` empty, with the rule that is
// closed. "open", of an allow or ask: tests of a text that leave a part of it open ("git log; id"
// passes `starts "git log"`), and hosts without a scheme. "spelling", of a deny or ask: tests that
// compare how a path or URL is spelled, with a value that they let through though it means the same
// place; a fix that is a rule was loaded, and catches that value. `tools` as of summarize().
[[nodiscard]] std::vector<Note> left_open(const ast::Rule& rule, const ToolSchemas* tools);
[[nodiscard]] std::optional<Note> spelled_place(const ast::Rule& rule, const ast::Target& target,
                                                const ast::Arg& arg, const ToolSchemas* tools);
// The same in a sentence each. `rule`: what stands behind --grant, --ask or --deny. Nothing of a
// text that does not parse.
[[nodiscard]] std::vector<std::string> open_ends(std::string_view rule, Effect effect,
                                                 const ToolSchemas* tools = nullptr);
// Of a rule as it is printed, "allow …", "ask …" or "deny …".
[[nodiscard]] std::vector<std::string> open_ends(std::string_view printed_rule);
// Whether an argument is a path or a URL, by its name, else by the schemas of the tools meant.
[[nodiscard]] ParameterKind kind_of_argument(const ast::Selector& selector,
                                             const ast::ArgPath& path, const ToolSchemas* tools);

// Of an ask with brackets only allows of one tool are looked at; what takes too long to tell is
// left out.
[[nodiscard]] std::vector<AskedAllow> asked_allows(const std::vector<CompiledLayer>& layers,
                                                   const Environment& environment);

}  // namespace mcpac::policy
