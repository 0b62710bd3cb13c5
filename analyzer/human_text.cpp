// The report as people read it: each finding with its source line, a caret and the fix, as a
// compiler shows it, then what the program may do and does. Text of the source is hostile: control
// and invisible characters become '?', so a terminal shows that they are there and does not obey.
#include <fmt/format.h>

#include <map>

#include "analyzer/report.h"
#include "core/printable.h"

namespace mcpac::analyzer {
namespace {

// A longer line is not shown: nobody reads it, and a minified source would flood the terminal.
constexpr std::size_t kMaxShownLine = 400;

std::string_view line_of(std::string_view source, unsigned line) {
  for (unsigned at = 1; at < line; ++at) {
    const auto end = source.find('\n');
    if (end == std::string_view::npos) return {};
    source.remove_prefix(end + 1);
  }
  return source.substr(0, source.find('\n'));
}

// Columns count bytes; the caret stands under a character, so continuation bytes take no room.
std::size_t width_before(std::string_view line, unsigned column) {
  std::size_t width = 0;
  for (std::size_t i = 0; i + 1 < column && i < line.size(); ++i)
    width += (static_cast<unsigned char>(line[i]) & 0xC0U) != 0x80U ? 1 : 0;
  return width;
}

std::string excerpt(std::string_view source, unsigned line, unsigned column) {
  const std::string_view text = line_of(source, line);
  if (line == 0 || text.empty() || text.size() > kMaxShownLine) return {};
  return fmt::format("{:>5} | {}\n      | {}^\n", line, printable_in_place(text),
                     std::string(width_before(text, column), ' '));
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

std::string to_text(const Finding& finding, const Report& report, std::string_view source) {
  std::string text =
      fmt::format("{}: {}: {} [{}]\n", place(finding.file, finding.line, finding.column),
                  finding.allowed.empty() ? to_string(finding.severity) : "allowed",
                  printable_in_place(finding.message), finding.rule);
  if (finding.file == report.file) text += excerpt(source, finding.line, finding.column);
  if (!finding.allowed.empty()) return text + indented("  because: ", finding.allowed);
  if (!finding.fix.empty()) text += indented("  fix: ", finding.fix);
  return text;
}

std::string to_text(const Use& use) {
  std::string arguments;
  for (const auto& [name, argument] : use.arguments) {
    const std::string value = argument.is_constant ? mcpac::to_text(argument.value) : "(run time)";
    arguments += fmt::format("{}{} = {}", arguments.empty() ? "" : ", ", name, value);
  }
  const std::string in = use.function.empty() ? "" : fmt::format(" in {}", use.function);
  return printable_in_place(fmt::format("  {}({})  {}{}", use.permission, arguments,
                                        place(use.file, use.line, use.column), in));
}

}  // namespace

std::string findings_text(const Report& report, std::string_view source) {
  std::string text;
  for (const Finding& finding : report.findings) text += to_text(finding, report, source);
  return text;
}

std::string to_human_text(const Report& report, std::string_view source) {
  std::string text = findings_text(report, source);
  if (report.verdict != Verdict::kCompileError) {
    text += report.declared.empty() ? "declares no permission\n" : "declares\n";
    for (const Declared& declared : report.declared)
      text += fmt::format("  {}\n", printable_in_place(declared.text()));
    if (report.entry == Entry::kBinary)
      text += "uses\n  unknown: a binary shows what it declares, not what it calls\n";
    if (!report.uses.empty()) text += "uses\n";
    for (const Use& use : report.uses) text += to_text(use) + "\n";
    if (!report.unused.empty()) text += "declared, but not used\n";
    for (const std::string& unused : report.unused)
      text += fmt::format("  {}\n", printable_in_place(unused));
  }
  return text + fmt::format("verdict: {}\n", to_string(report.verdict));
}

}  // namespace mcpac::analyzer
