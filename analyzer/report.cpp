#include "analyzer/report.h"

#include <fmt/format.h>

#include "analyzer/rules.h"

namespace mcpac::analyzer {

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

std::vector<Finding> problems(const Report& report) {
  std::vector<Finding> all = report.findings;
  constexpr std::string_view kRule = "denied-use";
  for (const Use& use : report.uses) {
    const auto& foreseen = use.foreseen;
    if (!foreseen || foreseen->answer != Foreseen::Answer::kDenied || foreseen->is_expected)
      continue;
    const std::string rule = foreseen->rule.empty() ? "" : fmt::format(" [{}]", foreseen->rule);
    all.push_back({std::string(kRule), find_rule(kRule)->severity, use.file, use.line, use.column,
                   fmt::format("{} will be denied: {}{}", use.permission, foreseen->reason, rule),
                   "change the call or grant it; where the program means to be denied, "
                   "--expect-denials"});
  }
  return all;
}

}  // namespace mcpac::analyzer
