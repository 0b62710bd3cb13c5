// SPDX-License-Identifier: Apache-2.0

// RecordingChoice: options of one run for recording and replay.
#pragma once

#include <filesystem>

namespace mcpac::history {

// At most one of them; empty: not.
struct RecordingChoice {
  std::filesystem::path record{};
  std::filesystem::path replay{};
};

}  // namespace mcpac::history
