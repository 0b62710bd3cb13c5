// SPDX-License-Identifier: Apache-2.0

// ReportDiff: permissions that a new version of a program gains over the old, for reviews.
//
// It errs to "more": a condition that reads differently counts as another one, and a new version
// whose calls cannot be seen counts as making new ones.
#pragma once

#include <string>
#include <vector>

#include "analyzer/report.h"

namespace mcpac::run {

struct DeclaredChange {
  enum class Kind : std::uint8_t { kAdded, kRemoved, kNarrowed, kWidened, kChanged };
  Kind kind = Kind::kChanged;
  std::string permission;
  std::vector<std::string> before;  // as grants, sorted
  std::vector<std::string> after;
  // kChanged: whether the new conditions admit more is not known, so it counts as more.
  [[nodiscard]] bool is_more() const {
    return kind == Kind::kAdded || kind == Kind::kWidened || kind == Kind::kChanged;
  }
};
[[nodiscard]] std::string to_string(DeclaredChange::Kind kind);

struct ReportDiff {
  std::vector<DeclaredChange> declared;     // sorted by permission
  std::vector<analyzer::Use> uses;          // that no use of the old version stands for
  std::vector<analyzer::Finding> findings;  // that the old version has not
  bool are_uses_hidden =
      false;                // the calls of the new version cannot be seen, those of the old can
  bool is_refused = false;  // a finding refuses the new version
  [[nodiscard]] bool is_more() const;
};

[[nodiscard]] ReportDiff diff_reports(const analyzer::Report& before,
                                      const analyzer::Report& after);

}  // namespace mcpac::run
