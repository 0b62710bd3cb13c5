// SPDX-License-Identifier: Apache-2.0

#include "analyzer/github_annotations.h"

#include <fmt/format.h>

#include "core/printable.h"

namespace mcpac::analyzer {
namespace {

std::string escaped(std::string_view text, std::string_view specials) {
  std::string result;
  for (const char c : text) {
    if (specials.find(c) == std::string_view::npos) {
      result += c;
    } else {
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return result;
}

// The message, and the values of properties, as the runner unescapes them.
std::string escaped_data(std::string_view text) {
  return escaped(text, "%\r\n");
}
std::string escaped_property(std::string_view text) {
  return escaped(printable_in_place(text), "%\r\n:,");
}

const char* command(Severity severity) {
  switch (severity) {
    case Severity::kNote: return "notice";
    case Severity::kWarns: return "warning";
    case Severity::kRefuses: break;
  }
  return "error";
}

}  // namespace

std::string to_github_annotation(const Finding& finding) {
  std::string place = fmt::format("file={}", escaped_property(finding.file));
  if (finding.line > 0) place += fmt::format(",line={},col={}", finding.line, finding.column);
  std::string message = printable_lines(finding.message);
  if (!finding.fix.empty()) message += "\nfix: " + printable_lines(finding.fix);
  const bool is_allowed = !finding.allowed.empty();
  if (is_allowed) message += "\nallowed: " + printable_lines(finding.allowed);
  return fmt::format("::{} {},title={}::{}\n", is_allowed ? "notice" : command(finding.severity),
                     place, escaped_property("mcpac: " + finding.rule), escaped_data(message));
}

std::string to_github_annotations(const Report& report) {
  std::string text;
  for (const Finding& finding : problems(report)) text += to_github_annotation(finding);
  return text;
}

}  // namespace mcpac::analyzer
