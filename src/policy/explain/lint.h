// Lint: what a policy file holds, and what its author should know of it though it loads.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/error.h"
#include "policy/environment.h"
#include "policy/explanation.h"
#include "policy/rules/compiled.h"
#include "policy/text/source_text.h"

namespace mcpac::policy {

struct Note {
  std::string place;  // "mcpac.policy:12"
  std::string text;
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

// Of an ask with brackets only allows of one tool are looked at; what takes too long to tell is
// left out.
[[nodiscard]] std::vector<AskedAllow> asked_allows(const std::vector<CompiledLayer>& layers,
                                                   const Environment& environment);

}  // namespace mcpac::policy
