// SPDX-License-Identifier: Apache-2.0

// Check: a program's declaration against its user's grants, before anything is compiled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/report.h"
#include "core/error.h"
#include "policy/authority.h"

namespace mcpac::run {

struct CheckResult {
  std::vector<std::string> missing;      // declared, not granted: the program is refused
  std::vector<std::string> conditional;  // granted for some arguments: decided call by call
  std::vector<std::string> unproven;     // of these: comparing them with the grants took too long
  std::vector<std::string> extra;        // granted by name, not declared: a warning
  // The rules that `missing` needs: of each call in the source exactly what it brings. What is not
  // known of it before the run keeps the tests of the user's own rule, or may be anything
  // (`unknown`). What no call in the source uses needs no grant: it is to be taken out (`unused`).
  std::vector<std::string> to_grant;
  std::vector<std::string> unknown;
  std::vector<std::string> unwritten;  // known, and no rule of a readable length says it
  std::vector<std::string> unused;     // with their places: "fs.read (agent.cpp:4)"
  std::vector<std::string> to_allow;   // rules that the project's policy would need as well
  std::vector<std::string> to_place;   // the options that declared files and network need
  std::vector<std::string> to_state;   // statements that the project's policy would need
  std::vector<std::string> to_lift;    // deny rules in the way, and who wrote them: they stand
  std::vector<std::string> blocked;    // why a grant alone does not help
  // Of mcpac.policy, which people take for a grant where it allows what is missing; or empty.
  std::string limited_by;
  std::string fix;  // the exact text to add, for a shell: "--grant a.b,c.d"
  [[nodiscard]] bool ok() const { return missing.empty(); }
};

// The tool that is declared; nothing for files and network, which are none.
[[nodiscard]] std::optional<Permission> declared_tool(const analyzer::Declared& declared);

// Each source of authority by itself, so that a refusal names the one that decided: what the
// command line grants, and mcpac.policy where there is one.
struct Sources {
  const policy::Authority* own = nullptr;
  const policy::Authority* ceiling = nullptr;
};

// kRuleSyntax where a declared condition is no rule (see grant_text). `granted` is all of
// `sources`; without them the first layer that refuses is what is told.
[[nodiscard]] Result<CheckResult> check(const analyzer::Report& report,
                                        const policy::Authority& granted,
                                        const Sources& sources = {});

struct RuleForUse {
  std::string rule;   // as after --grant
  std::string place;  // of the call: "agent.cpp:6"
};
struct RulesForUses {
  std::vector<RuleForUse> rules;  // in the order of the calls, each once; empty: no call is seen
  bool is_used = false;
  bool is_known = true;              // the calls are known whole
  bool is_exact = true;              // of those that are, each has a rule that says exactly it
  std::vector<std::string> escaped;  // of calls that no rule is written for: why
};
// Of the calls in a source: all, or those that an authority is certain to deny.
enum class WhichCalls : std::uint8_t { kAll, kDenied };
// The source of rules that is to admit them, borrowed; with `beside`, one that has to as well, the
// rule is the narrower of what is the least to either.
struct NeededOf {
  const policy::Authority& authority;
  WhichCalls which = WhichCalls::kAll;
  const policy::Authority* beside = nullptr;
};
// What the calls of a declared tool need, each exactly. Of a call that is not known before the run
// in all its parts those that are known stay tests, and a narrowed declaration stands as it is.
[[nodiscard]] RulesForUses rules_for_uses(const analyzer::Report& report,
                                          const analyzer::Declared& declared,
                                          const Permission& permission, const NeededOf& of);

// A permission as the grant language spells it; `where` is the text of a Narrow. That text comes
// from a program or its note and ends up in grants and in front of people, so it must be the
// condition of one rule for exactly this tool, and is printed anew from what was parsed.
[[nodiscard]] Result<std::string> grant_text(const Permission& permission,
                                             std::string_view where = "");

// The declared set as rules of a layer of its own.
[[nodiscard]] Result<std::vector<std::string>> declared_rules(const analyzer::Report& report);

}  // namespace mcpac::run
