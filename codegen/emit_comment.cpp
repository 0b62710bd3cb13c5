#include "codegen/emit_comment.h"

#include <fmt/format.h>

#include <vector>

#include "codegen/text_escape.h"

namespace mcpac::codegen {
namespace {

void put(std::string& out, std::string_view line, std::size_t indent) {
  out += fmt::format("{:{}}///{}{}\n", "", indent, line.empty() ? "" : " ", line);
}

void put_lines(std::string& out, std::string_view text, std::size_t indent) {
  for (const std::string& line : safe_lines(text)) put(out, line, indent);
}

// A title that only repeats the name in other letters says nothing.
void put_title(std::string& out, const Words& words, std::size_t indent) {
  if (words.title.empty() || words.title == words.description) return;
  put(out, safe_line(cut(words.title, 400)), indent);
  if (!words.description.empty()) put(out, "", indent);
}

void put_facts(std::string& out, const Words& words, std::size_t indent) {
  for (const std::string& fact : words.facts) put(out, safe_line(cut(fact, 400)), indent);
}

// One paragraph a parameter, the lines after the first indented below it.
void put_param(std::string& out, const Field& field, std::size_t indent) {
  std::string text =
      field.words.description.empty() ? cut(field.words.title, 400) : field.words.description;
  for (const std::string& fact : field.words.facts)
    text += (text.empty() ? "" : "\n") + cut(fact, 400);
  const std::vector<std::string> lines = safe_lines(text, 92);
  put(out, "@param " + field.cpp_name + (lines.empty() ? "" : "  " + lines.front()), indent);
  for (std::size_t i = 1; i < lines.size(); ++i) put(out, "    " + lines[i], indent);
}

}  // namespace

std::string comment(const Words& words, std::size_t indent) {
  std::string out;
  if (words.description.empty()) put_title(out, words, indent);
  put_lines(out, words.description, indent);
  put_facts(out, words, indent);
  return out;
}

std::string tool_comment(const ToolModel& tool, std::size_t indent) {
  std::string out;
  put_title(out, tool.words, indent);
  put_lines(out, tool.words.description, indent);
  put_facts(out, tool.words, indent);
  for (const Field& field : tool.args.fields) put_param(out, field, indent);
  put(out, "@throws mcpac::Denied, mcpac::ToolError, mcpac::TransportError", indent);
  return out;
}

}  // namespace mcpac::codegen
