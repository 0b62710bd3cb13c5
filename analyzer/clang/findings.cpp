// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/findings.h"

#include <algorithm>

#include "analyzer/rules.h"

namespace mcpac::analyzer {
namespace {

constexpr std::size_t kMaxFindings = 500;

}  // namespace

void Findings::add(std::string_view rule, const Place& place, std::string message,
                   std::string fix) {
  add_in(sources_.name(place.file), rule, place, std::move(message), std::move(fix));
}

void Findings::add_in(std::string file, std::string_view rule, const Place& place,
                      std::string message, std::string fix) {
  const Rule* known = find_rule(rule);
  // A name that the table does not hold is our bug; refusing is the side to err on.
  const Severity severity = known == nullptr ? Severity::kRefuses : known->severity;
  refuses_ = refuses_ || severity == Severity::kRefuses;
  if (list_.size() > kMaxFindings) return;
  if (list_.size() == kMaxFindings) {
    refuses_ = true;
    list_.push_back({"too-many-findings", Severity::kRefuses, std::move(file), place.line,
                     place.column, "there are more findings than are kept", "", ""});
    return;
  }
  if (!seen_.emplace(std::string(rule), file, place.line, place.column, message).second) return;
  list_.push_back({std::string(rule), severity, std::move(file), place.line, place.column,
                   std::move(message), std::move(fix), ""});
}

std::vector<Finding> Findings::sorted(const std::string& main_name) && {
  std::ranges::sort(list_, {}, [&main_name](const Finding& finding) {
    return std::tuple(finding.file != main_name, std::string_view(finding.file), finding.line,
                      finding.column, std::string_view(finding.rule),
                      std::string_view(finding.message));
  });
  return std::move(list_);
}

}  // namespace mcpac::analyzer
