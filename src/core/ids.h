// RunId and EventId: names that sort by time and cannot be guessed.
//
// Both are UUID version 7 (RFC 9562, section 5.7): 48 bits of milliseconds, 74 random bits.
#pragma once

#include <string>

#include "core/clock.h"

namespace mcpac {

[[nodiscard]] std::string new_uuid_v7(const Clock& clock);

}  // namespace mcpac
