// SPDX-License-Identifier: Apache-2.0

// String classes: possible answers of a set of tests to strings, with an example of each.
//
// Every test of one argument position is a probe; a class is a combination of answers that some
// string gets. All classes that exist are found: exactly by automata for tests on texts and for
// paths, by examples that stand for all for URLs. Where tests of different kinds meet in one
// argument, combinations that may not exist are listed, too, behind all that do: one of them must
// be tried before it is believed. Other readings of a string (readings.h) are looked for in four
// dresses of an example of each answer: a blank at either end, quotes, and JSON.
#pragma once

#include <string>
#include <vector>

#include "policy/environment.h"
#include "policy/rules/compiled.h"
#include "policy/sets/step_budget.h"

namespace mcpac::policy {

// One matcher of one argument, as one reading sees it.
struct StringProbe {
  const CompiledArg* arg;
  std::size_t matcher;
  CallView view;
};

struct StringClass {
  std::string example;
  std::vector<Outcome> outcomes;  // by probe
};

// A schema's limits on a string, beside the rules.
struct StringLimits {
  std::vector<std::size_t> lengths;  // "minLength", "maxLength"
  std::vector<std::string> values;   // "enum", "const", "default"
};

struct StringClasses {
  std::vector<StringClass> classes;
  // Why there may be classes that are not listed; empty: there are none.
  std::string gap;
};

[[nodiscard]] StringClasses string_classes(const std::vector<StringProbe>& probes,
                                           const StringLimits& limits,
                                           const Environment& environment, StepBudget& budget);

}  // namespace mcpac::policy
