// SPDX-License-Identifier: Apache-2.0

// The report as people read it: each finding with its source line, a caret and the fix, as a
// compiler shows it, then what the program may do and does. Text of the source is hostile: control
// and invisible characters become '?', so a terminal shows that they are there and does not obey.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/report.h"
#include "analyzer/source_line.h"
#include "analyzer/source_texts.h"
#include "analyzer/use_text.h"
#include "analyzer/word_list.h"
#include "core/denial_text.h"
#include "core/printable.h"

namespace mcpac::analyzer {
namespace {

// A longer line is not shown: it is unreadable, and a minified source would flood the terminal.
constexpr std::size_t kMaxShownLine = 400;

// The name that begins at the column, underlined as far as it goes.
std::string marker(std::string_view line, unsigned column) {
  std::string mark = "^";
  for (std::size_t i = column; i > 0 && i < line.size() && is_word(line[i - 1]); ++i) {
    if (is_word(line[i])) mark += '~';
  }
  return mark;
}

class Painter {
 public:
  explicit Painter(Colours colours) : colours_(colours) {}
  [[nodiscard]] std::string severity(const Finding& finding) const {
    const char* code = finding.severity == Severity::kRefuses ? "1;31"
                       : finding.severity == Severity::kWarns ? "1;33"
                                                              : "1;36";
    // The compiler's, in its word: mcpac refuses nothing here.
    const bool is_compilers = finding.rule == "compile-error";
    return paint(code, is_compilers ? "error" : to_string(finding.severity));
  }
  [[nodiscard]] std::string mark(const std::string& text) const { return paint("1;32", text); }
  [[nodiscard]] std::string answer(Foreseen::Answer answer) const {
    const char* code = answer == Foreseen::Answer::kDenied        ? "1;31"
                       : answer == Foreseen::Answer::kConditional ? "1;33"
                                                                  : "1;32";
    return paint(code, to_string(answer));
  }

 private:
  [[nodiscard]] std::string paint(const char* code, const std::string& text) const {
    return colours_ == Colours::kYes ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
  }
  Colours colours_;
};

std::string excerpt(std::string_view source, unsigned line, unsigned column,
                    const Painter& painter) {
  const std::string_view text = line_of(source, line);
  if (line == 0 || text.empty() || text.size() > kMaxShownLine) return {};
  return fmt::format(
      "{:>5} | {}\n      | {}{}\n", line, printable_in_place(text),
      std::string(printable_width(text.substr(0, column == 0 ? 0 : column - 1)), ' '),
      painter.mark(marker(text, column)));
}

std::string indented(std::string_view head, std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const auto end = text.find('\n');
    shown += fmt::format("{}{}\n", shown.empty() ? head : std::string(head.size(), ' '),
                         printable_in_place(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return shown;
}

std::string place(std::string_view file, unsigned line, unsigned column) {
  return line == 0 ? printable_in_place(file)
                   : fmt::format("{}:{}:{}", printable_in_place(file), line, column);
}

std::string finding_text(const Finding& finding, const SourceTexts& sources,
                         const Painter& painter) {
  std::string text =
      fmt::format("{}: {}: {} [{}]\n", place(finding.file, finding.line, finding.column),
                  finding.allowed.empty() ? painter.severity(finding) : "allowed",
                  printable_in_place(finding.message), printable_in_place(finding.rule));
  text += excerpt(sources.of(finding.file), finding.line, finding.column, painter);
  if (!finding.allowed.empty()) return text + indented("  because: ", finding.allowed);
  if (!finding.fix.empty()) text += indented("  fix: ", finding.fix);
  return text;
}

std::string foreseen_text(const Foreseen& foreseen, const Painter& painter) {
  std::string why = denial_text(foreseen.reason, foreseen.rule, foreseen.other_rules);
  if (!foreseen.reason.empty()) why.insert(0, ": ");
  if (foreseen.is_expected) why += ", as expected";
  return fmt::format("    {}{}\n", painter.answer(foreseen.answer), printable_in_place(why));
}

// The verdict is about the source; what the grants make of it may be worse.
std::string verdict_text(const Report& report) {
  const auto denied = std::ranges::count_if(report.uses, [](const Use& use) {
    return use.foreseen && use.foreseen->answer == Foreseen::Answer::kDenied &&
           !use.foreseen->is_expected;
  });
  if (report.verdict == Verdict::kCompileError) return "does not compile";
  if (overall(report) != Verdict::kDenied) return to_string(report.verdict);
  std::string text = "denied: the source is ok";
  if (!report.not_granted.empty())
    text += fmt::format(", {} of what it declares is not granted", report.not_granted.size());
  const bool is_own = std::ranges::all_of(report.uses, [](const Use& use) {
    return !use.foreseen || use.foreseen->answer != Foreseen::Answer::kDenied ||
           use.foreseen->layer == kDeclarationLayer;
  });
  if (denied > 0)
    text += is_own ? fmt::format(", its own declaration denies {} of its uses", denied)
                   : fmt::format(", the grants deny {} of its uses", denied);
  return text;
}

}  // namespace

std::string findings_text(const Report& report, std::string_view source, Colours colours) {
  return findings_text(report, SourceTexts(report, source), colours);
}

std::string findings_text(const Report& report, const SourceTexts& sources, Colours colours) {
  const Painter painter(colours);
  std::string text;
  for (const Finding& finding : problems(report)) text += finding_text(finding, sources, painter);
  return text;
}

std::string to_human_text(const Report& report, std::string_view source, Colours colours) {
  return to_human_text(report, SourceTexts(report, source), colours);
}

std::string to_human_text(const Report& report, const SourceTexts& sources, Colours colours) {
  const Painter painter(colours);
  std::string text = findings_text(report, sources, colours);
  if (report.verdict != Verdict::kCompileError) {
    text += report.declared.empty() ? "declares no permission\n" : "declares\n";
    for (const Declared& declared : report.declared)
      text += fmt::format("  {}\n", printable_in_place(declared.text()));
    if (report.entry == Entry::kBinary)
      text += "uses\n  unknown: a binary shows what it declares, not what it calls\n";
    if (!report.uses.empty()) text += "uses\n";
    for (const Use& use : report.uses) {
      text += fmt::format("  {}\n", use_text(use));
      if (use.foreseen) text += foreseen_text(*use.foreseen, painter);
    }
    if (!report.unused.empty()) text += "declared, but not used\n";
    for (const std::string& unused : report.unused)
      text += fmt::format("  {}\n", printable_in_place(unused));
  }
  return text + fmt::format("verdict: {}\n", verdict_text(report));
}

}  // namespace mcpac::analyzer
