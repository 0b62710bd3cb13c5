// SPDX-License-Identifier: Apache-2.0

// Decide: one layer's answer to one call. Deny before ask before allow; nothing matching means
// deny.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "policy/rules/compiled.h"
#include "policy/rules/evaluate.h"

namespace mcpac::policy {

struct Verdict {
  Effect effect = Effect::kDeny;
  const CompiledRule* rule = nullptr;      // that decided; null: nothing matched
  const CompiledTarget* target = nullptr;  // the one of it
  std::vector<std::size_t> metered;  // matching allow rules to charge when the call goes through
  bool unmetered = false;            // a matching allow rule without meters lets it through as well
};

// How one target of a layer stands to a call. `miss`, where given, receives the first reason
// against it.
[[nodiscard]] RuleStanding::Kind standing_of(const CompiledRule& rule, const CompiledTarget& target,
                                             const CallUnderTest& call, const Times& times,
                                             Miss* miss = nullptr);

// `approved`: the ask rules, of any layer, that got a yes to this very call. They admit it, and are
// charged; any other ask rule that catches it asks.
[[nodiscard]] Verdict decide_layer(const CompiledLayer& layer, const CallUnderTest& call,
                                   const Times& times, std::span<const AskRule> approved = {});

// Every ask rule of the layer that catches the call.
[[nodiscard]] std::vector<AskRule> asking(const CompiledLayer& layer, const CallUnderTest& call,
                                          const Times& times);

// The allow and ask rules that speak of the tool and do not match, in no particular order. Slow:
// for denials only.
struct MissedTarget {
  const CompiledTarget* target = nullptr;
  Miss miss{};
  bool used_up = false;  // it would admit the call, had it not reached a limit
  bool ended = false;    // with used_up: its `until` is over, for this run and later ones
};
[[nodiscard]] std::vector<MissedTarget> missed_targets(const CompiledLayer& layer,
                                                       const CallUnderTest& call,
                                                       const Times& times);

// The one of them that came nearest, and why it missed; where none speaks of the tool, an allow
// with a wildcard that leaves it out.
struct Nearest {
  std::string rule;
  std::string why;
  std::string place;
  std::size_t others = 0;  // that speak of the tool and missed, too
  bool used_up = false;    // it would admit the call, had it not reached a limit
  bool ended = false;      // with used_up: its `until` is over
};
[[nodiscard]] Nearest nearest_rule(const CompiledLayer& layer, const CallUnderTest& call,
                                   const Times& times);

// An allow whose wildcard would cover the tool, did it have what the rule tests; null: there is
// none.
struct LeftOut {
  const CompiledTarget* target = nullptr;
  std::string why;
};
[[nodiscard]] LeftOut left_out(const CompiledLayer& layer, const Permission& permission);

// Every target of the layer that covers the tool, in no particular order.
[[nodiscard]] std::vector<const CompiledTarget*> covering(const CompiledLayer& layer,
                                                          const Permission& permission);

}  // namespace mcpac::policy
