// SPDX-License-Identifier: Apache-2.0

// Would grant: the proposed fix of a denial, the least grant that admits this one call under the
// user's rules, or nothing and why not.
//
// The text is closed and exact: every argument of the call by its value, with the path tests of the
// rule that came nearest, whose limits it keeps. What cannot be said so gets no text at all: a
// value that escaped a rule (by a link, by "..", by a spelling that is read in more than one way),
// one that only the run knows, and one that the language has no exact test for: a list of different
// elements, whose order no test says. Whatever is printed
// was loaded and asked about the call before.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/compare/possible.h"
#include "policy/decide/decide.h"
#include "policy/foresight.h"
#include "policy/rules/evaluate.h"

namespace mcpac::policy {

struct Fix {
  std::string would_grant;  // as after --grant, or a whole option; empty: there is none
  std::string no_grant;     // why there is none; empty beside a text
  bool escaped = false;     // as a value got past a rule's test
};

// Of a call that no rule of `layer` admits, the run's own. The file system is asked about the
// values of the call through the environment's resolver.
[[nodiscard]] Fix fix_for(const CompiledLayer& layer, const CallUnderTest& call, const Times& times,
                          const Environment& environment);
// The same of a call that is known in part: what is unknown keeps the tests of the rule
// that came nearest. The file system is not asked.
[[nodiscard]] Fix fix_for(const CompiledLayer& layer, const PossibleCall& call,
                          const Environment& environment);

// Authority::least_rule. What is unknown keeps the tests of the nearest rule of `layer`, or may be
// anything; lists and long texts may be any where no test says exactly what they are.
[[nodiscard]] LeastRule least_rule(const CompiledLayer& layer, const PossibleCall& call,
                                   const Environment& environment);

// Of two rules that admit one call the one that lies within the other; the first where neither
// does, or where that cannot be told in short. Where a value escaped the rules of one, that.
[[nodiscard]] LeastRule narrower_of(LeastRule one, LeastRule other, const Permission& permission,
                                    const Environment& environment);

// The rule for a tool, whatever it is called with.
[[nodiscard]] std::string whole_tool(const Permission& permission);

// Authority::granted_of.
[[nodiscard]] std::vector<std::string> granted_of(const CompiledLayer& layer,
                                                  const Permission& permission,
                                                  const Json* arguments, const Json* schema,
                                                  const Environment& environment);

}  // namespace mcpac::policy
