// Control: a case without any sandbox.
#pragma once

#include <string>

#include "hostile/support_matrix.h"
#include "hostile/support_victim.h"

namespace mcpac::hostile {

// What the host has open without close-on-exec while cases run (cases/cases.h).
inline constexpr int kLeaked = 77;

// Runs the case; "exit 0" when it worked, or how it ended otherwise, with what it wrote.
[[nodiscard]] std::string run_control(const Row& row, Input input, Victim& victim);

}  // namespace mcpac::hostile
