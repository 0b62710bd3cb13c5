// SPDX-License-Identifier: Apache-2.0

// Rules: everything the analyzer looks for, in one table, for `mcpac permissions rules` and
// findings.
//
// A rule's name is stable: people write it in reviews and scripts. The severity here is the only
// one: a finding takes it from this table, so no place in the code can soften a rule.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "analyzer/report.h"

namespace mcpac::analyzer {

// Evidence that a rule is met: the source alone, the grants of a run, the compiled object, or
// several files together.
enum class FoundIn : std::uint8_t { kSource, kGrants, kObject, kFiles };

struct Rule {
  std::string_view name;
  Severity severity;
  std::string_view reason;  // why it is a rule, one sentence
  // The shortest text that meets it, behind `#include <mcpac.hpp>` and before an entry where it has
  // none; every example of the source is analysed in a test. Control characters stand in it as
  // themselves. In words where no text can say it.
  std::string_view example;
  FoundIn found_in = FoundIn::kSource;
};

// Sorted by name.
[[nodiscard]] std::span<const Rule> rules();
// The rule of that name; nullptr where there is none.
[[nodiscard]] const Rule* find_rule(std::string_view name);

}  // namespace mcpac::analyzer
