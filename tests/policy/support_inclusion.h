// Two policies side by side, for tests of inclusion.
#pragma once

#include <optional>
#include <string>

#include "policy/inclusion.h"
#include "policy/support_world.h"

namespace mcpac::policy::testing {

// A policy file as an authority; a text that does not load is thrown.
[[nodiscard]] Authority policy_of(const World& world, const std::string& text);

// What decide() says of a call with its defaults filled in; nothing where the schema refuses it. A
// fresh authority each time, so that no limit is used up.
[[nodiscard]] std::optional<Effect> effect_of(const World& world, Authority& authority,
                                              const Permission& permission, Json arguments);

// Empty when the call is what it says; limits are not looked at.
[[nodiscard]] std::string why_no_witness(const World& world, Authority& wider, Authority& narrower,
                                         const Excess& excess);

}  // namespace mcpac::policy::testing
