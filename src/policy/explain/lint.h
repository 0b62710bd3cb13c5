// Lint: what a policy file holds, and what its author should know of it though it loads.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/error.h"
#include "policy/environment.h"
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

}  // namespace mcpac::policy
