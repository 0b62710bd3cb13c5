// SPDX-License-Identifier: Apache-2.0

#include "run/check/suggest_narrow.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/permission.h"
#include "core/printable.h"
#include "policy/text/parser.h"
#include "policy/text/printer.h"
#include "run/check/check.h"

namespace mcpac::run {
namespace {

// More values than this are data: such a condition is unreadable.
constexpr std::size_t kMaxValues = 8;

using Uses = std::vector<const analyzer::Use*>;

Uses uses_of(const analyzer::Report& report, const std::string& permission) {
  Uses uses;
  for (const auto& use : report.uses) {
    if (use.permission == permission) uses.push_back(&use);
  }
  return uses;
}

std::string literal(const Json& value) {
  return value.is_string() ? policy::print_string(value.get_ref<const std::string&>())
                           : to_text(value);
}

// The texts of the constants that all uses pass; nothing where one of them is not known before the
// run, or is no scalar.
std::optional<std::set<std::string>> constants(const Uses& uses, const std::string& name) {
  std::set<std::string> values;
  for (const auto* use : uses) {
    const auto found = use->arguments.find(name);
    if (found == use->arguments.end()) continue;
    if (!found->second.is_constant || found->second.value.is_structured()) return std::nullopt;
    values.insert(literal(found->second.value));
  }
  return values.size() <= kMaxValues ? std::optional(values) : std::nullopt;
}

bool all_pass(const Uses& uses, const std::string& name) {
  return std::ranges::all_of(uses,
                             [&name](const auto* use) { return use->arguments.contains(name); });
}

// The condition that admits these uses, as one closed rule; nothing where none is narrower than the
// whole tool.
std::optional<std::string> condition(const Permission& permission, const Uses& uses) {
  std::set<std::string> names;
  for (const auto* use : uses) {
    if (use->open) return std::nullopt;
    for (const auto& [name, argument] : use->arguments) names.insert(name);
  }
  std::vector<std::string> arguments;
  bool narrows = false;
  for (const std::string& name : names) {
    const std::string head = (all_pass(uses, name) ? "" : "?") + policy::print_name(name);
    const auto values = constants(uses, name);
    if (!values) {
      arguments.push_back(head + " any");
    } else if (values->size() == 1) {
      arguments.push_back(fmt::format("{} == {}", head, *values->begin()));
    } else {
      arguments.push_back(fmt::format("{} in {{{}}}", head, fmt::join(*values, ", ")));
    }
    narrows = narrows || values.has_value();
  }
  if (!narrows) return std::nullopt;
  // Read back, so that what is suggested is a rule for this tool, spelled as every other rule.
  const std::string text = fmt::format("{}", fmt::join(arguments, ", "));
  const auto brackets = policy::parse_brackets({"a suggestion", text});
  if (!brackets) return std::nullopt;
  std::string where = policy::print(*brackets);
  return grant_text(permission, where) ? std::optional(where) : std::nullopt;
}

std::string cpp_literal(const std::string& text) {
  if (text.find_first_of("\"\\") == std::string::npos) return '"' + text + '"';
  std::string mark;
  while (text.find(")" + mark + "\"") != std::string::npos) mark += '_';
  return fmt::format("R\"{0}({1}){0}\"", mark, text);
}

// A name for the struct that C++ leaves to programs: not two underscores in a row, none in front.
std::string legal_name(std::string_view name) {
  std::string legal;
  for (const char c : name) {
    if (c != '_' || (!legal.empty() && legal.back() != '_')) legal += c;
  }
  if (legal.empty() || (legal.front() >= '0' && legal.front() <= '9')) legal.insert(0, "tool_");
  return legal;
}

// "read_text_file_here" for mcp::filesystem::read_text_file; with the server's name where another
// server's tool has that one already.
std::string struct_name(const std::string& tag, std::set<std::string>& taken) {
  const auto tool = tag.rfind("::") + 2;
  const auto server = tag.find("::") + 2;
  std::string name = legal_name(tag.substr(tool) + "_here");
  if (taken.contains(name) && server < tool)
    name = legal_name(tag.substr(server, tool - 2 - server) + "_" + tag.substr(tool) + "_here");
  const std::string base = name;
  for (int number = 2; !taken.insert(name).second; ++number)
    name = fmt::format("{}_{}", base, number);
  return name;
}

// The constants of a call that will be denied are no example of what the program needs.
bool is_any_denied(const Uses& uses) {
  return std::ranges::any_of(uses, [](const auto* use) {
    return use->foreseen && use->foreseen->answer == analyzer::Foreseen::Answer::kDenied;
  });
}

std::string narrow_struct(const std::string& name, const std::string& tag,
                          const std::string& where) {
  return fmt::format("struct {} : mcpac::Narrow<{}> {{\n  static constexpr char where[] = {};\n}};",
                     name, tag, cpp_literal(where));
}

}  // namespace

std::vector<Suggestion> suggestions(const analyzer::Report& report,
                                    const std::map<std::string, std::string>& tags) {
  std::vector<Suggestion> found;
  std::set<std::string> names;
  // Of what is refused or was compiled elsewhere, the uses are not all known.
  if (report.verdict != analyzer::Verdict::kOk || report.entry == analyzer::Entry::kBinary)
    return found;
  for (const auto& declared : report.declared) {
    const auto tag = tags.find(declared.permission);
    const auto permission = Permission::parse(declared.permission);
    if (tag == tags.end() || !permission) continue;
    const Uses uses = uses_of(report, declared.permission);
    if (uses.empty()) {
      found.push_back({Suggestion::Kind::kUnused, declared.permission, "",
                       fmt::format("{} is declared, but not used; take it out of the Requires",
                                   declared.text()),
                       ""});
    } else if (declared.where.empty() && !is_any_denied(uses)) {
      auto where = condition(*permission, uses);
      if (!where) continue;
      const std::string name = struct_name(tag->second, names);
      found.push_back(
          {Suggestion::Kind::kNarrower, declared.permission, *where,
           fmt::format(
               "every use of {} fits a narrower declaration; write this above the entry, and "
               "{} instead of {} in its Requires",
               declared.permission, name, tag->second),
           narrow_struct(name, tag->second, *where)});
    }
  }
  return found;
}

Json to_json(const Suggestion& suggestion) {
  const bool unused = suggestion.kind == Suggestion::Kind::kUnused;
  return {{"kind", unused ? "unused" : "narrower"},
          {"permission", suggestion.permission},
          {"where", suggestion.where},
          {"message", suggestion.message},
          {"code", suggestion.code}};
}

std::string to_human_text(const Suggestion& suggestion) {
  std::string text = fmt::format("note: {}\n", printable_in_place(suggestion.message));
  std::string_view rest = suggestion.code;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    text += fmt::format("  {}\n", printable_in_place(rest.substr(0, end)));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return text;
}

}  // namespace mcpac::run
