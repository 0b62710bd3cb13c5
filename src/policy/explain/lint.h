// Lint: what a policy file holds, and what its author should know of it though it loads.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "policy/effect.h"
#include "policy/environment.h"
#include "policy/explanation.h"
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
  std::vector<Note> notes;
};

// An error where the text does not parse; whether it loads is the loader's affair.
[[nodiscard]] Result<FileSummary> summarize(const SourceText& source);

// Rules that decide nothing beside the others of their file (lint_overlaps.cpp), for a file that
// loads: "doubled" (the same rule twice), "expired" (`until` is over), "dead" (denies take all that
// an allow or an ask is about), "shadowed" (an ask takes all that an allow admits; another rule of
// the same effect, without a limit, is about all that it is about). Each profile is read beside the
// rules outside of profiles. Bounded, some 50 ms: what is not certain by then is not said.
[[nodiscard]] std::vector<Note> find_overlaps(const SourceText& source,
                                              const Environment& environment);
// Allows with a wildcard, which cover the tools that servers will gain: "new-tools".
[[nodiscard]] std::vector<Note> find_wildcards(const SourceText& source);

// What an allow or ask admits or asks about beyond what its words seem to say, a sentence an
// argument at most, with the rule that is closed: tests of a text that leave a part of it open
// ("git log; id" passes `starts "git log"`), and hosts without a scheme. `rule`: what stands behind
// --grant or --ask. Nothing of a text that does not parse.
[[nodiscard]] std::vector<std::string> open_ends(std::string_view rule, Effect effect);
[[nodiscard]] std::vector<std::string> open_ends(const ast::Rule& rule);
// The same of a rule as it is printed, "allow …" or "ask …".
[[nodiscard]] std::vector<std::string> open_ends(std::string_view printed_rule);

// Of an ask with brackets only allows of one tool are looked at; what takes too long to tell is
// left out.
[[nodiscard]] std::vector<AskedAllow> asked_allows(const std::vector<CompiledLayer>& layers,
                                                   const Environment& environment);

}  // namespace mcpac::policy
