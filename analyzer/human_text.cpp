// The report as people read it: each finding with its source line, a caret and the fix, as a
// compiler shows it, then what the program may do and does. Text of the source is hostile: control
// characters become spaces, so a terminal shows them and does not obey them.
#include <fmt/format.h>

#include <map>

#include "analyzer/report.h"

namespace mcpac::analyzer {
namespace {

// A longer line is not shown: nobody reads it, and a minified source would flood the terminal.
constexpr std::size_t kMaxShownLine = 400;

bool is_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f;
}

// Bidirectional controls (E2 80 8E/8F/AA-AE, E2 81 A6-A9) would show another text than the compiler
// reads; each of their bytes is shown as '?'.
std::size_t bidi_length(std::string_view text) {
  if (!text.starts_with("\xE2")) return 0;
  if (text.size() < 3) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  const auto third = static_cast<unsigned char>(text[2]);
  const bool marks = second == 0x80 && (third == 0x8E || third == 0x8F);
  const bool embeds = second == 0x80 && third >= 0xAA && third <= 0xAE;
  const bool isolates = second == 0x81 && third >= 0xA6 && third <= 0xA9;
  return marks || embeds || isolates ? 3 : 0;
}

std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const std::size_t length = bidi_length(text.substr(i)); length > 0) {
      shown.append(length, '?');
      i += length - 1;
    } else {
      shown.push_back(is_control(text[i]) ? ' ' : text[i]);
    }
  }
  return shown;
}

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
  return fmt::format("{:>5} | {}\n      | {}^\n", line, printable(text),
                     std::string(width_before(text, column), ' '));
}

std::string indented(std::string_view head, std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const auto end = text.find('\n');
    shown += fmt::format("{}{}\n", shown.empty() ? head : std::string(head.size(), ' '),
                         printable(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return shown;
}

std::string place(std::string_view file, unsigned line, unsigned column) {
  return line == 0 ? printable(file) : fmt::format("{}:{}:{}", printable(file), line, column);
}

std::string to_text(const Finding& finding, const Report& report, std::string_view source) {
  std::string text =
      fmt::format("{}: {}: {} [{}]\n", place(finding.file, finding.line, finding.column),
                  to_string(finding.severity), printable(finding.message), finding.rule);
  if (finding.file == report.file) text += excerpt(source, finding.line, finding.column);
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
  return printable(fmt::format("  {}({})  {}{}", use.permission, arguments,
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
      text += fmt::format("  {}\n", printable(declared.text()));
    if (report.entry == Entry::kBinary)
      text += "uses\n  unknown: a binary shows what it declares, not what it calls\n";
    if (!report.uses.empty()) text += "uses\n";
    for (const Use& use : report.uses) text += to_text(use) + "\n";
    if (!report.unused.empty()) text += "declared, but not used\n";
    for (const std::string& unused : report.unused)
      text += fmt::format("  {}\n", printable(unused));
  }
  return text + fmt::format("verdict: {}\n", to_string(report.verdict));
}

}  // namespace mcpac::analyzer
