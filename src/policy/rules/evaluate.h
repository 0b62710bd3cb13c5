// SPDX-License-Identifier: Apache-2.0

// Evaluate: does one target match one call, and if not, why not?
#pragma once

#include <string>

#include "core/json_schema.h"
#include "policy/match/call_starts.h"
#include "policy/match/readings.h"
#include "policy/rules/compiled.h"
#include "policy/rules/schema_view.h"

namespace mcpac::policy {

struct CallUnderTest {
  const Permission& permission;
  const Json& arguments;
  const Json* schema = nullptr;  // the locked input schema; null for control permissions
  bool lexical = false;          // paths by their text alone (CallView)
  Demand demand = {};            // for meters; nothing where no rule that counts speaks of the tool
  mutable KnownReadings readings = {};  // of the arguments, found as rules ask for them
  bool takes_for_folders = true;        // with `lexical` (CallView)
  // Default that the server may use where the call leaves a member out; null where that is certain,
  // and so filled in already.
  const DefaultPlace* defaults = nullptr;
  const UnfilledDefaults* unfilled = nullptr;           // of the schema; null: not known
  CallStarts starts = CallStarts(arguments, defaults);  // found as rules ask for them

  [[nodiscard]] SchemaView view() const {
    return schema == nullptr ? SchemaView() : SchemaView(*schema, unfilled);
  }
};

// Whether it is "/", and what the schema has for this place where nothing is said.
[[nodiscard]] bool is_root_by_default(const Json& value, const SchemaView& schema);

// `why`, where given, receives the first reason against a match; `passed` counts the arguments that
// held before it, so that the nearest rule can be named.
struct Miss {
  std::string why;
  std::string plain;  // the same without the value that `why` quotes; empty where it quotes none
  // Where the reason is a test of one argument: the argument, its value and the test, as printed.
  std::string argument;
  std::string value;
  std::string test;
  std::size_t passed = 0;
};

// The closed world of an allow: is every argument of the call named in the brackets, or equal to
// its default? Says nothing of their tests.
[[nodiscard]] bool names_all(const CompiledBrackets& brackets, const CallUnderTest& call,
                             Miss* miss = nullptr);

[[nodiscard]] bool matches(const CompiledTarget& target, Effect effect, const CallUnderTest& call,
                           Miss* miss = nullptr);

// Where a deny or ask that matches the call, or an allow that does not, has another reason than its
// tests say (Matcher::remark), the value and that reason; mostly empty. Slow: for denials only.
[[nodiscard]] std::string remark_on(const CompiledTarget& target, const CallUnderTest& call,
                                    Reading reading);

// A member that a call leaves out is what its schema has for it by default, whichever form the
// server takes: a deny or ask catches it where it would catch one of these, an allow that tests it
// needs all of them to pass. `place` is the member's, `step` the one behind it. For one argument.
[[nodiscard]] bool catches_left_out(const CompiledArg& arg, const CallView& view, std::size_t step,
                                    const DefaultPlace* place);
[[nodiscard]] bool admits_left_out(const CompiledArg& arg, const CallView& view, std::size_t step,
                                   const DefaultPlace* place);
// The same of "*", which looks for a string anywhere in it.
[[nodiscard]] bool catches_string_left_out(const CompiledArg& arg, const CallView& view,
                                           const DefaultPlace& place);
// Of a rule that matches: the argument that it catches only so; empty where it catches one that is
// there.
[[nodiscard]] std::string caught_by_default(const CompiledTarget& target, Effect effect,
                                            CallUnderTest call);

}  // namespace mcpac::policy
