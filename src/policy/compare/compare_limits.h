// SPDX-License-Identifier: Apache-2.0

// Limits: may rules that admit the same calls be exhausted later on one side than on the other?
//
// A rule with a limit stands until it is used up: so one rule of the wider side must outlast all
// that the narrower side can do, with whatever tool. Limits of several rules add up where they draw
// on one, unless one of them is charged with every call that it is charged with.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "policy/decide/call_marks.h"
#include "policy/sets/value_set.h"

namespace mcpac::policy {

struct LimitAnswer {
  enum class Kind : std::uint8_t { kWithin, kExceeds, kUnknown };
  Kind kind = Kind::kWithin;
  std::string what;                  // "5 calls, instead of 3"
  const ValueClass* call = nullptr;  // kExceeds: the calls it holds for
};

// A call that can be made, and by layer the rules that answer it (wider) or may be charged with it
// (narrower).
struct ChargedCall {
  std::vector<std::vector<const CompiledRule*>> wider;
  std::vector<std::vector<const CompiledRule*>> narrower;
  // narrower: by which it is answered.
  std::vector<std::vector<const CompiledRule*>> answering;
};
[[nodiscard]] ChargedCall charged_call(const std::vector<MarkedLayer>& wider,
                                       const std::vector<MarkedLayer>& narrower,
                                       const Marks& marks);
// Calls of other tools that both sides admit; asked for where it may matter.
using CallsOfOthers = std::function<std::vector<ChargedCall>()>;

// `calls` are all classes of calls to one tool; with nothing used up the wider side answers each at
// least as generously. `other_tools`: all others, which may draw on the same limits.
[[nodiscard]] LimitAnswer compare_limits_of(const std::vector<MarkedLayer>& wider,
                                            const std::vector<MarkedLayer>& narrower,
                                            const std::vector<ValueClass>& calls,
                                            const std::vector<Permission>& other_tools,
                                            const CallsOfOthers& calls_of_others);

}  // namespace mcpac::policy
