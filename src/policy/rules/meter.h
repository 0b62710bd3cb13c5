// SPDX-License-Identifier: Apache-2.0

// Meters: usage of a rule's limits (docs/grants.md).
//
// `calls`, `rate`, `bytes out` and `cost` are known before a call is sent: they are charged when it
// is decided, so that calls in flight together never overspend. `bytes in` is known when the result
// is there: results are charged in the order of their coming, and one that no longer fits is not
// delivered (ADR 0013). All count per run. Not thread-safe, like the authority that owns them.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "policy/explanation.h"

namespace mcpac::policy {

struct CompiledRule;

// The clocks of a decision; without them no rule is expired and no rate used (self-tests,
// explanations).
struct Times {
  std::optional<std::chrono::steady_clock::time_point> start;
  std::optional<std::chrono::steady_clock::time_point> steady;
  std::optional<std::chrono::system_clock::time_point> wall;
};

// Charge of a call to the limits that are charged before it is sent.
struct Demand {
  std::uint64_t bytes_out = 0;  // the arguments, as JSON text
  std::uint64_t cost = 0;       // millionths of the currency of the tool's price
};

// Usage of a rule.
struct Usage {
  std::uint64_t calls = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t cost = 0;
  // For `rate`, at most as many as it allows.
  std::deque<std::chrono::steady_clock::time_point> recent;
};

// Whether its `until` is over by these clocks.
[[nodiscard]] bool has_ended(const CompiledRule& rule, const Times& times);
// Whether its time is over, by `until` or `duration`: it admits no call of this run any more.
[[nodiscard]] bool is_over(const CompiledRule& rule, const Times& times);
// Why a limited rule does not hold for a call with this demand, or nothing.
[[nodiscard]] std::optional<std::string> used_up(const CompiledRule& rule, const Times& times,
                                                 const Demand& demand);

// Of a rule with a `rate`: the calls that it counts now.
[[nodiscard]] std::uint64_t calls_in_window(const CompiledRule& rule, const Times& times);

// Usage of each limit of a rule.
[[nodiscard]] std::vector<MeterState> meters_of(const CompiledRule& rule, const Times& times);

void charge(CompiledRule& rule, const Times& times, const Demand& demand);
// Undoes one charge() of the same moment and demand: nothing was sent.
void give_back(CompiledRule& rule, const Times& times, const Demand& demand);
// Charges a result of this many bytes, or, when it does not fit any more, uses `bytes in` up.
[[nodiscard]] bool charge_result(CompiledRule& rule, std::uint64_t bytes);

}  // namespace mcpac::policy
