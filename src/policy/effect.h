// SPDX-License-Identifier: Apache-2.0

// Effect: outcome of a rule or a decision, from the most generous to the strictest.
#pragma once

#include <cstdint>
#include <string>

namespace mcpac::policy {

enum class Effect : std::uint8_t { kAllow, kAsk, kDeny };
[[nodiscard]] inline std::string to_string(Effect effect) {
  switch (effect) {
    case Effect::kAllow: return "allow";
    case Effect::kAsk: return "ask";
    case Effect::kDeny: break;
  }
  return "deny";
}

}  // namespace mcpac::policy
