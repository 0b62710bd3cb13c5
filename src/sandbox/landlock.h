// SPDX-License-Identifier: Apache-2.0

// Landlock: the second opinion on files. The same list that makes the root makes the rules.
#pragma once

#include <span>

#include "core/file.h"
#include "sandbox/plan.h"

namespace mcpac::sandbox {

// The kernel's Landlock version; 0: none.
[[nodiscard]] int landlock_abi();

// Whether TCP is held by Landlock, too; a server has its own network namespace, and talks to
// itself.
enum class TcpRules : std::uint8_t { kRefuse, kNone };

// In the warden: everything this ABI can restrict is restricted, then `mounts` are admitted again
// and `program` (-1: none) may be run. On failure an empty descriptor, with errno set.
[[nodiscard]] UniqueFd make_ruleset(std::span<const PlannedMount> mounts, int program, int abi,
                                    TcpRules tcp = TcpRules::kRefuse);

// In the child: admits a folder that exists only there, as `mount` says; rules for what an overlay
// is made of do not hold for it. `holds_places`: whether the host's writable folders lie below,
// which get all that a private one has. 0 or errno.
[[nodiscard]] int allow_made(int ruleset, int folder, const PlannedMount& mount, bool holds_places,
                             int abi);

// In the child, after the mounts: a confined process can mount nothing. 0 or errno.
[[nodiscard]] int enter_ruleset(int ruleset);

}  // namespace mcpac::sandbox
