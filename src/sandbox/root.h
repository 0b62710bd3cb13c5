// SPDX-License-Identifier: Apache-2.0

// Root: a file system that holds the mounts of the spec and nothing else.
#pragma once

#include <cstdint>

#include "sandbox/plan.h"

namespace mcpac::sandbox {

// In the child, in a mount namespace of its own. On failure `item` is the mount it failed at.
[[nodiscard]] int enter_own_root(const Plan& plan, std::uint16_t& item);

// In the child, without namespaces but with CAP_SYS_CHROOT: an empty folder that is already
// removed.
[[nodiscard]] int enter_empty_root();

}  // namespace mcpac::sandbox
