// printable(): text that a server wrote, made fit for a terminal, a log and an error message.
//
// Control characters could move the cursor or rewrite what we printed ourselves; escape sequences
// for colours are dropped whole, other control characters become '?'. Newlines and tabs become
// spaces.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mcpac::mcp {

[[nodiscard]] std::string printable(std::string_view text, std::size_t max_bytes = 1'000);

}  // namespace mcpac::mcp
