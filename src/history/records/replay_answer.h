// SPDX-License-Identifier: Apache-2.0

// Result of one decision that was made again from its record (replay.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mcpac::history {

struct ReplayAnswer {
  std::string left_out;  // why it was not made again; empty: it was
  std::vector<std::string> differences;
};

// Whether its permission had been taken back before.
enum class Revoked : std::uint8_t { kNo, kYes };

}  // namespace mcpac::history
