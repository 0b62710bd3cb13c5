// SPDX-License-Identifier: Apache-2.0

// Strictness: treatment of what a run's rules do not admit.
#pragma once

#include <cstdint>

namespace mcpac::run {

enum class Enforcement : std::uint8_t { kEnforce, kObserve };
// Calls that will certainly be denied: a mistake, or what the program is about; or, of those that
// only were not granted, made all the same (--no-permission-check).
enum class DeniedUses : std::uint8_t { kRefuse, kExpect, kLiftUngranted };

}  // namespace mcpac::run
