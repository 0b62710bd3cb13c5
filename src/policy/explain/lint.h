// Lint: what a policy file holds, and what its author should know of it though it loads.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "policy/effect.h"
#include "policy/text/ast.h"
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

// What an allow or ask admits or asks about beyond what its words seem to say, a sentence an
// argument at most, with the rule that is closed: tests of a text that leave a part of it open
// ("git log; id" passes `starts "git log"`), and hosts without a scheme. `rule`: what stands behind
// --grant or --ask. Nothing of a text that does not parse.
[[nodiscard]] std::vector<std::string> open_ends(std::string_view rule, Effect effect);
[[nodiscard]] std::vector<std::string> open_ends(const ast::Rule& rule);
// The same of a rule as it is printed, "allow …" or "ask …".
[[nodiscard]] std::vector<std::string> open_ends(std::string_view printed_rule);

}  // namespace mcpac::policy
