// SPDX-License-Identifier: Apache-2.0

// Patience: scale factor of all time-outs here.
//
// Limits of time are against what hangs; a machine that is slow for other reasons wants them
// longer. MCPAC_RESIDENT_PATIENCE is the factor (docs/resident.md). Set once, before any thread.
#pragma once

#include <chrono>

namespace mcpac::resident {

// Time for a run to end by itself once it was told to: its servers have some seconds a step
// (mcp/stdio_transport.h). Then it is killed.
inline constexpr std::chrono::seconds kUntilARunEnds{20};

void set_patience(unsigned factor);  // 1 to 1,000; others are brought there
void set_patience_from_environment();
[[nodiscard]] std::chrono::milliseconds patient(std::chrono::milliseconds usual);

}  // namespace mcpac::resident
