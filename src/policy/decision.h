// SPDX-License-Identifier: Apache-2.0

// Decision: the answer of an authority to one call.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "policy/effect.h"

namespace mcpac::policy {

// An ask rule that catches a call: whose it is, how it is printed, and the tool that is called. By
// these it is known again: an answer to it is one about this tool (docs/asking.md).
struct AskRule {
  std::string layer;
  std::string rule;
  std::string tool = {};  // "server.tool"
  friend auto operator<=>(const AskRule&, const AskRule&) = default;
};

// What a run may be freed of (--no-permission-check): that its own layer admits no such call, or
// asks about it. A deny of any layer, and what the layers above do not admit or ask about, hold all
// the same.
enum class Lifted : std::uint8_t { kNothing, kUngranted };

// Where a rule stands, for people: its place where that is a file or an option, else its layer.
[[nodiscard]] std::string place_or_layer(const std::string& place, const std::string& layer);

// `rule` is the printed rule that decided, or the nearest one that missed; `reason` says why.
struct Decision {
  Effect effect = Effect::kDeny;
  std::string rule;
  std::string reason;
  // The least that would admit this call (policy/explain/would_grant.h): a text as after --grant,
  // or a whole option; empty when allowed, or when no grant helps. Said by explain() and by the
  // decide() that takes no evidence: a decision for a program pays for no words.
  std::string would_grant;
  std::string layer;
  std::size_t other_rules = 0;  // of that layer, that speak of the tool and missed as well
  std::string place = {};       // where that rule stands: "mcpac.policy:12", "--deny"
  // More of the reason, in words of the user's rules and with what to do: for the user alone, and
  // never for a program or a client. Begins as a sentence goes on: "\"/home/u\" contains …".
  std::string remark = {};
  // Of a denial: why no grant is suggested.
  std::string no_grant = {};
  // Nothing is against it but that the first layer, the run's own, admits no such call or asks
  // about it: no rule denies it there, and every layer above admits it or asks.
  bool only_ungranted = false;
  // With Lifted::kUngranted: the denial was lifted, and what the layers above count was charged.
  bool lifted = false;
  bool used_up = false;            // that rule admits the call, and has no more of its limit
  bool ended = false;              // with used_up: its `until` is over
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
