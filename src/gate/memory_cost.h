// HeldBytes: what a value that was read takes in memory. Of `[{},{},{}]` that is 25 times its text:
// who bounds what waits for an answer counts this, too.
#pragma once

#include <cstddef>

#include "core/json.h"

namespace mcpac::gate {

// Beside the value itself; about what glibc's malloc gives for it.
[[nodiscard]] std::size_t memory_cost(const Json& value);

}  // namespace mcpac::gate
