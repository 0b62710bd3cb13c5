#include "analyzer/clang/allowances.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "analyzer/rules.h"
#include "core/nearest_name.h"
#include "core/trimmed.h"

namespace mcpac::analyzer {
namespace {

constexpr std::string_view kMark = "mcpac-allow";
constexpr const char* kForm = "// mcpac-allow: RULE reason";
// A sentence, not an essay; the report repeats it.
constexpr std::size_t kMaxReason = 500;

// Beside blanks, what comments are written with.
std::string_view trimmed(std::string_view text) {
  return mcpac::trimmed(text, [](char c) { return std::string_view(" \t\r\n*/").contains(c); });
}

// What is wrong with it; empty where it can allow something.
std::string complaint(const Allowance& allowance) {
  if (allowance.rule.empty())
    return "this mcpac-allow names no rule behind a colon, so it allows nothing";
  const Rule* rule = find_rule(allowance.rule);
  if (rule == nullptr) {
    std::vector<std::string> names;
    for (const Rule& known : rules()) names.emplace_back(known.name);
    const std::string near = did_you_mean(allowance.rule, names);
    return fmt::format("there is no rule `{}`{}{}", allowance.rule, near.empty() ? "" : "; ", near);
  }
  if (rule->severity == Severity::kRefuses)
    return fmt::format("`{}` refuses; a program cannot allow that to itself", allowance.rule);
  if (rule->severity == Severity::kNote)
    return fmt::format("`{}` is only a note; there is nothing to allow", allowance.rule);
  if (allowance.reason.empty()) return "an mcpac-allow needs a reason";
  return allowance.reason.size() > kMaxReason ? "the reason is too long" : "";
}

// Only a comment that begins with the mark: prose may speak of it.
std::optional<Allowance> read_comment(std::string_view comment) {
  std::string_view text = trimmed(comment);
  if (!text.starts_with(kMark)) return std::nullopt;
  text.remove_prefix(kMark.size());
  Allowance allowance;
  if (!text.starts_with(':')) return allowance;
  text = trimmed(text.substr(1));
  const auto end = text.find_first_of(" \t\n");
  allowance.rule = text.substr(0, end);
  if (allowance.rule.ends_with(':')) allowance.rule.pop_back();
  if (end != std::string_view::npos) allowance.reason = trimmed(text.substr(end));
  return allowance;
}

bool covers(const Allowance& allowance, const Finding& finding) {
  return finding.severity == Severity::kWarns && finding.rule == allowance.rule &&
         finding.file == allowance.file &&
         (finding.line == allowance.place.line || finding.line == allowance.place.line + 1);
}

}  // namespace

std::vector<Allowance> allowances_of(CXTranslationUnit unit, CXFile file, const Sources& sources,
                                     Findings& findings) {
  std::vector<Allowance> found;
  for (const Token& comment : comments_of(unit, file)) {
    auto allowance = read_comment(comment.text);
    if (!allowance) continue;
    allowance->file = sources.name(file);
    allowance->place = comment.place;
    if (auto wrong = complaint(*allowance); !wrong.empty()) {
      findings.add("allow-form", comment.place, std::move(wrong), kForm);
    } else {
      found.push_back(std::move(*allowance));
    }
  }
  return found;
}

void apply(const std::vector<Allowance>& allowances, Findings& findings) {
  for (const Allowance& allowance : allowances) {
    const bool used =
        findings.allow([&allowance](const Finding& finding) { return covers(allowance, finding); },
                       allowance.reason);
    if (!used) {
      findings.add("allow-unused", allowance.place,
                   fmt::format("nothing here is a finding of the rule `{}`", allowance.rule),
                   "remove the comment");
    }
  }
}

}  // namespace mcpac::analyzer
