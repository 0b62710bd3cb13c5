// Decision: the answer of an authority to one call.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "policy/effect.h"

namespace mcpac::policy {

// An ask rule that catches a call: whose it is, and how it is printed. By these two it is known
// again (docs/asking.md).
struct AskRule {
  std::string layer;
  std::string rule;
  friend auto operator<=>(const AskRule&, const AskRule&) = default;
};
// `rule` is the printed rule that decided, or the nearest one that missed; `reason` says why.
struct Decision {
  Effect effect = Effect::kDeny;
  std::string rule;
  std::string reason;
  // The --grant text that would admit this call and little else; empty when allowed, or when no
  // grant helps.
  std::string would_grant;
  std::string layer;
  std::size_t other_rules = 0;     // of that layer, that speak of the tool and missed as well
  std::string place = {};          // where that rule stands: "mcpac.policy:12", "--deny"
  bool used_up = false;            // that rule admits the call, and has no more of its limit
  std::vector<AskRule> asks = {};  // with kAsk: the rules of all layers that ask
  // Denied by no rule: its paths are more than one call may have looked up, or than a record holds
  // where one is wanted. Of such a call nothing but this is known.
  bool too_large = false;
  // Of an allowed call, for Authority::settle() or give_back(); 0 where nothing was charged.
  std::uint64_t reservation = 0;
  // Whether settle() needs the size of the result: some rule limits `bytes in`.
  bool counts_result = false;
  [[nodiscard]] bool allowed() const { return effect == Effect::kAllow; }
};

}  // namespace mcpac::policy
