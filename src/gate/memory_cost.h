// MemoryCost: memory that a parsed value takes. For `[{},{},{}]` that is 25 times its text: a bound
// on waiting calls counts this, too.
#pragma once

#include <cstddef>

#include "core/json.h"

namespace mcpac::gate {

// Beside the value itself; about what glibc's malloc gives for it.
[[nodiscard]] std::size_t memory_cost(const Json& value);

}  // namespace mcpac::gate
