// SPDX-License-Identifier: Apache-2.0

// KnownStrings: string classes, each question asked once in a comparison of two policies.
//
// Policies say the same of many tools ("path within ./data"), and the classes of strings depend on
// the tests alone, not on the tool whose argument they are of. Answering again costs the steps that
// it cost at first, so that what a budget decides does not hang on what was asked before.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "policy/sets/string_classes.h"

namespace mcpac::policy {

class KnownStrings {
 public:
  // Borrowed.
  explicit KnownStrings(const Environment& environment) : environment_(environment) {}
  // As string_classes() answers.
  [[nodiscard]] StringClasses classes(const std::vector<StringProbe>& probes,
                                      const StringLimits& limits, StepBudget& budget);

 private:
  struct Known {
    StringClasses found;
    std::size_t steps = 0;
  };
  const Environment& environment_;
  std::map<std::string, Known> known_;
};

}  // namespace mcpac::policy
