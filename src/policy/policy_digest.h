// SPDX-License-Identifier: Apache-2.0

// The digest of an authority: two that share it decide every call alike, as long as they know the
// same tools (the lock has a digest of its own) and see the same files and clocks.
//
// It is made of what was loaded, never of the texts that it was loaded from: whatever way a rule
// came in (a profile, a file, an option) it counts, and nothing is read twice. Comments and the
// spelling of a rule do not count; where the bases of its paths led when it was loaded does.
#pragma once

#include <string>

#include "policy/authority.h"

namespace mcpac::policy {

// SHA-256, in hexadecimal.
[[nodiscard]] std::string policy_digest(const Authority& authority);

}  // namespace mcpac::policy
