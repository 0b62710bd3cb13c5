#include "analyzer/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/rules.h"
#include "core/denial_text.h"
#include "core/shell_quote.h"

namespace mcpac::analyzer {

bool declares_files(const std::vector<Declared>& declared) {
  return std::ranges::find(declared, "mcpac.files", &Declared::permission) != declared.end();
}

std::string Declared::text() const {
  return where.empty() ? permission : permission + " where " + where;
}

std::string to_string(Severity severity) {
  switch (severity) {
    case Severity::kNote: return "note";
    case Severity::kWarns: return "warns";
    case Severity::kRefuses: return "refuses";
  }
  return "refuses";
}

std::string to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk: return "ok";
    case Verdict::kRefused: return "refused";
    case Verdict::kCompileError: return "compile_error";
    case Verdict::kDenied: return "denied";
  }
  return "refused";
}

std::string to_string(Foreseen::Answer answer) {
  switch (answer) {
    case Foreseen::Answer::kCovered: return "covered";
    case Foreseen::Answer::kConditional: return "conditional";
    case Foreseen::Answer::kDenied: break;
  }
  return "denied";
}

namespace {

Finding finding_of(std::string_view rule, std::string file, unsigned line, unsigned column) {
  Finding finding;
  finding.rule = rule;
  finding.severity = find_rule(rule)->severity;
  finding.file = std::move(file);
  finding.line = line;
  finding.column = column;
  return finding;
}

std::string remedy(const Foreseen& foreseen) {
  const std::string expected = "where the program means to be denied, --expect-denials";
  if (!foreseen.no_grant.empty())
    return fmt::format("change the call (no --grant is suggested: {}); {}", foreseen.no_grant,
                       expected);
  if (foreseen.would_grant.starts_with("--"))
    return fmt::format("change the call, or {}; {}", foreseen.would_grant, expected);
  if (foreseen.layer == kDeclarationLayer)
    return fmt::format("change the call, or what the program declares; {}", expected);
  if (foreseen.would_grant.empty())
    return fmt::format("change the call ({} decides); {}",
                       foreseen.place.empty() ? foreseen.layer : foreseen.place, expected);
  return fmt::format("change the call, or --grant {}; {}", shell_quoted(foreseen.would_grant),
                     expected);
}

bool is_denied(const Use& use) {
  return use.foreseen && use.foreseen->answer == Foreseen::Answer::kDenied &&
         !use.foreseen->is_expected;
}

// Said already where the permission is declared: no rule speaks of the tool at all.
bool is_said(const Report& report, const Use& use) {
  return use.foreseen->rule.empty() &&
         std::ranges::any_of(report.declared, [&](const Declared& declared) {
           return declared.permission == use.permission &&
                  std::ranges::find(report.not_granted, declared.text()) !=
                      report.not_granted.end();
         });
}

}  // namespace

std::vector<Finding> problems(const Report& report) {
  std::vector<Finding> all = report.findings;
  for (const Declared& declared : report.declared) {
    const std::string text = declared.text();
    if (std::ranges::find(report.not_granted, text) == report.not_granted.end()) continue;
    all.push_back(finding_of("not-granted", declared.file, declared.line, declared.column));
    all.back().message = fmt::format("{} is declared, and not granted", text);
    all.back().fix = report.grant_fix;
  }
  for (const Use& use : report.uses) {
    if (!is_denied(use) || is_said(report, use)) continue;
    const Foreseen& foreseen = *use.foreseen;
    all.push_back(finding_of("denied-use", use.file, use.line, use.column));
    all.back().message =
        fmt::format("{} will be denied: {}", use.permission,
                    denial_text(foreseen.reason, foreseen.rule, foreseen.other_rules));
    all.back().fix = remedy(foreseen);
  }
  return all;
}

Verdict overall(const Report& report) {
  const bool is_ok = report.verdict == Verdict::kOk && report.not_granted.empty() &&
                     std::ranges::none_of(report.uses, is_denied);
  return is_ok || report.verdict != Verdict::kOk ? report.verdict : Verdict::kDenied;
}

bool is_of_grants(const Finding& finding) {
  const Rule* rule = find_rule(finding.rule);
  return rule != nullptr && rule->found_in == FoundIn::kGrants;
}

}  // namespace mcpac::analyzer
