// SPDX-License-Identifier: Apache-2.0

#include "gateway/code_mode/answer_text.h"

#include <fmt/format.h>

#include <initializer_list>
#include <string_view>

namespace mcpac::gateway::code_mode {
namespace {

// "name: text", below each other where the text has lines.
void add(std::string& text, std::string_view name, const std::string& said) {
  if (said.empty()) return;
  const bool lines = said.find('\n') < said.size() - 1;
  text +=
      fmt::format("{}:{}{}{}", name, lines ? "\n" : " ", said, said.ends_with('\n') ? "" : "\n");
}

void add_members(std::string& text, const Json& of, std::initializer_list<const char*> names) {
  for (const char* name : names) add(text, fmt::format("  {}", name), string_member(of, name));
}

// Each of a list, where the answer has it.
template <class Add>
void for_each(const Json& of, const char* name, Add add) {
  const Json* list = find_member(of, name);
  if (list == nullptr || !list->is_array()) return;
  for (const Json& one : *list) add(one);
}

bool is_problem(const Json& finding) {
  return string_member(finding, "severity") != "note";
}

void add_findings(std::string& text, const Json& report) {
  for_each(report, "findings", [&](const Json& finding) {
    if (!is_problem(finding)) return;
    text += fmt::format("{}:{}:{}: {} [{}]\n", string_member(finding, "file"),
                        finding.value("line", 0), finding.value("column", 0),
                        string_member(finding, "message"), string_member(finding, "rule"));
    add_members(text, finding, {"fix"});
  });
}

// An error that stands on findings repeats the first of them, which come below it.
void add_error(std::string& text, const Json& error, const Json* report) {
  text += fmt::format("error {}: {}\n", string_member(error, "id"), string_member(error, "what"));
  const std::string why = string_member(error, "why");
  bool is_found = false;
  if (report != nullptr) {
    for_each(*report, "findings", [&](const Json& finding) {
      is_found =
          is_found || (is_problem(finding) && why.starts_with(string_member(finding, "message")));
    });
  }
  if (!is_found) add_members(text, error, {"where", "why", "fix"});
}

// What it declares and calls, with what the grants make of each call.
void add_report(std::string& text, const Json& report) {
  add(text, "verdict", string_member(report, "verdict"));
  std::string declared;
  for_each(report, "declared", [&](const Json& one) {
    declared += (declared.empty() ? "" : ", ") + one.get<std::string>();
  });
  add(text, "declares", declared);
  for_each(report, "uses", [&](const Json& use) {
    const Json* foreseen = find_member(use, "verdict");
    text += fmt::format("calls {} in line {}{}\n", string_member(use, "permission"),
                        use.value("line", 0),
                        foreseen == nullptr ? "" : ": " + string_member(*foreseen, "answer"));
  });
  add_findings(text, report);
}

}  // namespace

std::string answer_text(const Json& answer) {
  std::string text;
  if (const Json* result = find_member(answer, "result")) add(text, "result", to_text(*result));
  add(text, "stdout", string_member(answer, "stdout"));
  add(text, "stderr", string_member(answer, "stderr"));
  if (const Json* granted = find_member(answer, "granted"))
    add(text, "granted", granted->get<bool>() ? "yes" : "no");
  const Json* report = find_member(answer, "report");
  if (const Json* error = find_member(answer, "error")) add_error(text, *error, report);
  const bool is_analysis = find_member(answer, "suggestions") != nullptr;
  if (report != nullptr) is_analysis ? add_report(text, *report) : add_findings(text, *report);
  for_each(answer, "suggestions", [&](const Json& one) {
    add(text, "note", string_member(one, "message"));
    add(text, "  code", string_member(one, "code"));
  });
  for_each(answer, "denials", [&](const Json& denial) {
    text += fmt::format("denied: {}: {}\n", string_member(denial, "permission"),
                        string_member(denial, "reason"));
  });
  for_each(answer, "log", [&](const Json& line) {
    text += fmt::format("log {}: {}\n", string_member(line, "level"), string_member(line, "text"));
  });
  for_each(answer, "warnings",
           [&](const Json& one) { add(text, "warning", one.get<std::string>()); });
  for_each(answer, "truncated", [&](const Json& one) {
    if (one.is_string()) add(text, "cut off", one.get<std::string>());
  });
  const Json* code = find_member(answer, "exit_code");
  if (code != nullptr && *code != 0) add(text, "exit code", to_text(*code));
  if (text.empty() && code != nullptr) text = "it ended with exit code 0, and wrote nothing\n";
  return text;
}

}  // namespace mcpac::gateway::code_mode
