// Evaluate: does one target match one call, and if not, why not?
#pragma once

#include <string>

#include "policy/rules/compiled.h"

namespace mcpac::policy {

struct CallUnderTest {
  const Permission& permission;
  const Json& arguments;
  const Json* schema = nullptr;  // the locked input schema; null for control permissions
  bool lexical = false;          // paths by their text alone (CallView)
  Demand demand = {};            // for meters; nothing where no rule that counts speaks of the tool
  bool takes_for_folders = true;  // with `lexical` (CallView)
};

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

}  // namespace mcpac::policy
