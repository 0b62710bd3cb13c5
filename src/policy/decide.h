// Decide: one layer's answer to one call. Deny before ask before allow; nothing matching means
// deny.
#pragma once

#include <optional>
#include <vector>

#include "policy/compiled.h"
#include "policy/evaluate.h"

namespace mcpac::policy {

// The clocks of the decision; without them no rule is expired and no meter used (self-tests,
// explanations).
struct Times {
  std::optional<std::chrono::steady_clock::time_point> start;
  std::optional<std::chrono::steady_clock::time_point> steady;
  std::optional<std::chrono::system_clock::time_point> wall;
};

struct Verdict {
  Effect effect = Effect::kDeny;
  const CompiledRule* rule = nullptr;      // that decided; null: nothing matched
  const CompiledTarget* target = nullptr;  // the one of it
  std::vector<std::size_t> metered;  // matching allow rules to charge when the call goes through
};

[[nodiscard]] Verdict decide_layer(const CompiledLayer& layer, const CallUnderTest& call,
                                   const Times& times);

// The allow or ask rule that came nearest, and why it missed. Slow: for denials only.
struct Nearest {
  std::string rule;
  std::string why;
  std::size_t others = 0;  // that speak of the tool and missed, too
};
[[nodiscard]] Nearest nearest_rule(const CompiledLayer& layer, const CallUnderTest& call,
                                   const Times& times);

// Every target of the layer that covers the tool, in no particular order.
[[nodiscard]] std::vector<const CompiledTarget*> covering(const CompiledLayer& layer,
                                                          const Permission& permission);

// Why a limited rule no longer matches, or nothing.
[[nodiscard]] std::optional<std::string> used_up(const CompiledRule& rule, const Times& times);

}  // namespace mcpac::policy
