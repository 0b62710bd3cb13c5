// SPDX-License-Identifier: Apache-2.0

#include "run/check/report_diff.h"

#include <algorithm>
#include <map>
#include <set>

#include "run/check/check.h"

namespace mcpac::run {
namespace {

using Texts = std::set<std::string>;

// A declared permission as a grant. A condition that is no rule stays a condition, as it is
// written: it must never look like the whole tool.
std::string text_of(const analyzer::Declared& declared) {
  const auto permission = Permission::parse(declared.permission);
  if (permission) {
    if (auto text = grant_text(*permission, declared.where)) return *text;
  }
  return declared.where.empty() ? declared.permission
                                : declared.permission + "(" + declared.where + ")";
}

// Declared parts of each permission; the whole tool makes its parts needless.
std::map<std::string, Texts> declared_of(const analyzer::Report& report) {
  std::map<std::string, Texts> all;
  for (const auto& declared : report.declared) all[declared.permission].insert(text_of(declared));
  for (const auto& declared : report.declared) {
    if (declared.where.empty()) all[declared.permission] = {text_of(declared)};
  }
  return all;
}

bool is_whole(const Texts& texts) {
  return texts.size() == 1 && !texts.begin()->ends_with(')');
}

DeclaredChange::Kind kind_of(const Texts& before, const Texts& after) {
  using Kind = DeclaredChange::Kind;
  if (before.empty()) return Kind::kAdded;
  if (after.empty()) return Kind::kRemoved;
  if (is_whole(before) || std::ranges::includes(before, after)) return Kind::kNarrowed;
  if (is_whole(after) || std::ranges::includes(after, before)) return Kind::kWidened;
  return Kind::kChanged;
}

std::vector<DeclaredChange> declared_changes(const analyzer::Report& before,
                                             const analyzer::Report& after) {
  auto old_texts = declared_of(before);
  auto new_texts = declared_of(after);
  for (const auto& [permission, texts] : old_texts) new_texts[permission];
  std::vector<DeclaredChange> changes;
  for (const auto& [permission, now] : new_texts) {
    const Texts& was = old_texts[permission];
    if (was == now) continue;
    changes.push_back(
        {kind_of(was, now), permission, {was.begin(), was.end()}, {now.begin(), now.end()}});
  }
  return changes;
}

// Whether every call that `use` can make is one that `known` could make. What only the run knew
// could be anything, or absent; what was not written was absent.
bool stands_for(const analyzer::Use& known, const analyzer::Use& use) {
  if (known.permission != use.permission || (use.open && !known.open)) return false;
  for (const auto& [name, argument] : known.arguments) {
    if (!argument.is_constant) continue;
    const auto found = use.arguments.find(name);
    if (found == use.arguments.end() || !found->second.is_constant ||
        found->second.value != argument.value)
      return false;
  }
  return std::ranges::all_of(use.arguments, [&known](const auto& argument) {
    return known.open || known.arguments.contains(argument.first);
  });
}

std::vector<analyzer::Use> new_uses(const analyzer::Report& before, const analyzer::Report& after) {
  std::vector<analyzer::Use> uses;
  // Of a binary only the declaration is known: within that it could call whatever it liked.
  if (before.entry == analyzer::Entry::kBinary) return uses;
  for (const auto& use : after.uses) {
    const bool is_known = std::ranges::any_of(
        before.uses, [&use](const auto& known) { return stands_for(known, use); });
    if (!is_known) uses.push_back(use);
  }
  return uses;
}

std::vector<analyzer::Finding> new_findings(const analyzer::Report& before,
                                            const analyzer::Report& after) {
  std::map<std::pair<std::string, std::string>, std::size_t> left;
  for (const auto& finding : before.findings) ++left[{finding.rule, finding.message}];
  std::vector<analyzer::Finding> findings;
  for (const auto& finding : after.findings) {
    auto& known = left[{finding.rule, finding.message}];
    if (known == 0) {
      findings.push_back(finding);
    } else {
      --known;
    }
  }
  return findings;
}

}  // namespace

std::string to_string(DeclaredChange::Kind kind) {
  switch (kind) {
    case DeclaredChange::Kind::kAdded: return "added";
    case DeclaredChange::Kind::kRemoved: return "removed";
    case DeclaredChange::Kind::kNarrowed: return "narrowed";
    case DeclaredChange::Kind::kWidened: return "widened";
    case DeclaredChange::Kind::kChanged: break;
  }
  return "changed";
}

bool ReportDiff::is_more() const {
  const auto speaks_against = [](const analyzer::Finding& finding) {
    return finding.severity != analyzer::Severity::kNote;
  };
  return are_uses_hidden || is_refused || !uses.empty() ||
         std::ranges::any_of(declared, &DeclaredChange::is_more) ||
         std::ranges::any_of(findings, speaks_against);
}

ReportDiff diff_reports(const analyzer::Report& before, const analyzer::Report& after) {
  ReportDiff diff;
  diff.declared = declared_changes(before, after);
  diff.uses = new_uses(before, after);
  diff.findings = new_findings(before, after);
  diff.are_uses_hidden = after.entry == analyzer::Entry::kBinary &&
                         before.entry != analyzer::Entry::kBinary && !after.declared.empty();
  diff.is_refused = after.verdict != analyzer::Verdict::kOk;
  return diff;
}

}  // namespace mcpac::run
