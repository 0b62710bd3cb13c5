// SPDX-License-Identifier: Apache-2.0

// Findings: collects what the checkers see, each once, and no more than a person could read.
#pragma once

#include <concepts>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/clang/sources.h"
#include "analyzer/report.h"

namespace mcpac::analyzer {

class Findings {
 public:
  explicit Findings(const Sources& sources) : sources_(sources) {}

  // The severity is the rule's own (analyzer/rules.h).
  void add(std::string_view rule, const Place& place, std::string message, std::string fix = "");
  void add(std::string_view rule, CXCursor cursor, std::string message, std::string fix = "") {
    add(rule, place_of(cursor), std::move(message), std::move(fix));
  }
  // The same for a file that is already named as findings name it.
  void add_in(std::string file, std::string_view rule, const Place& place, std::string message,
              std::string fix = "");
  // Gives every finding that `matches` the reason why it is allowed; whether there was one.
  template <std::predicate<const Finding&> Matches>
  bool allow(Matches&& matches, const std::string& reason) {
    bool any = false;
    for (Finding& finding : list_) {
      if (!matches(std::as_const(finding))) continue;
      finding.allowed = reason;
      any = true;
    }
    return any;
  }
  [[nodiscard]] bool refuses() const { return refuses_; }
  // In the order of the source: the main file first.
  [[nodiscard]] std::vector<Finding> sorted(const std::string& main_name) &&;

 private:
  const Sources& sources_;
  std::vector<Finding> list_;
  std::set<std::tuple<std::string, std::string, unsigned, unsigned, std::string>> seen_;
  bool refuses_ = false;
};

}  // namespace mcpac::analyzer
