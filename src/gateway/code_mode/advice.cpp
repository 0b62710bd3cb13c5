// SPDX-License-Identifier: Apache-2.0

#include "gateway/code_mode/advice.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace mcpac::gateway::code_mode {
namespace {

// Advice for a command's user, and of no use without a command.
constexpr std::string_view kExpected = "; where the program means to be denied, --expect-denials";
constexpr std::string_view kPerson = "have the person add to the policy of this client: ";

struct Words {
  std::string_view option;
  std::string_view instead;
};
constexpr std::array kLimits = {
    Words{"--timeout SECONDS", "`limits.timeout_s`, as far as the person allows,"},
    Words{"--memory SIZE", "`limits.memory_bytes`, as far as the person allows"},
    Words{"--output-limit BYTES", "`limits.output_bytes`, as far as the person allows"}};
constexpr std::array kRules = {Words{"--grant ", "grant "}, Words{"--ask ", "ask "},
                               Words{"--files ", "files "}, Words{"--network ", "network "}};

// What to look up is looked up by the tools beside this one. The headers of a client's programs
// have what it was granted, and nothing else.
constexpr std::array kLookups = {
    Words{"; mcpac generate renews the headers", ""},
    Words{"waits for mcpac lock accept", "waits for the person to accept it"},
    Words{"mcpac tools list shows the tools",
          "search_tools shows the tools that this client was granted"},
    Words{"mcpac tools list shows what there is",
          "search_tools shows what this client was granted"},
    Words{"mcpac tools list", "search_tools"},
    Words{"mcpac tools describe", "describe_tools"}};
// Advice that only a person with the command can follow.
constexpr std::array<std::string_view, 11> kCommands = {"generate", "lock",   "login", "server",
                                                        "doctor",   "policy", "audit", "init",
                                                        "runs",     "info",   "tools"};

bool names_command(std::string_view fix) {
  constexpr std::string_view kOurs = "mcpac ";
  for (std::size_t at = 0; (at = fix.find(kOurs, at)) != std::string_view::npos; ++at) {
    const std::string_view rest = fix.substr(at + kOurs.size());
    if (std::ranges::any_of(kCommands, [&](std::string_view one) { return rest.starts_with(one); }))
      return true;
  }
  return false;
}

void replace_all(std::string& text, const Words& words) {
  for (std::size_t at = 0; (at = text.find(words.option, at)) != std::string::npos;
       at += words.instead.size())
    text.replace(at, words.option.size(), words.instead);
}

}  // namespace

std::string advice_for_client(std::string fix) {
  replace_all(fix, {kExpected, ""});
  for (const Words& limit : kLimits) replace_all(fix, limit);
  for (const Words& lookup : kLookups) replace_all(fix, lookup);
  if (names_command(fix)) fix.insert(0, "for the person, who has the command: ");
  std::size_t first = std::string::npos;
  for (const Words& rule : kRules) first = std::min(first, fix.find(rule.option));
  if (first == std::string::npos) return fix;
  for (const Words& rule : kRules) replace_all(fix, rule);
  return fix.insert(first, kPerson);
}

void advise_client(Json& value) {
  if (!value.is_structured()) return;
  for (auto& [name, member] : value.items()) {
    const bool is_advice = value.is_object() && (name == "fix" || name == "grant_fix");
    if (is_advice && member.is_string())
      member = advice_for_client(member.get<std::string>());
    else
      advise_client(member);
  }
}

}  // namespace mcpac::gateway::code_mode
