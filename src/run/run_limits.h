// SPDX-License-Identifier: Apache-2.0

// RunLimits: resource limits of one run of a program. The defaults fit an agent that waits for
// tools.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "sandbox/sandbox.h"

namespace mcpac::run {

// Where a program writes in folders that it was granted read-write: there, or to a changeset beside
// them (history/changes/changeset.h).
enum class WritesTo : std::uint8_t { kPlace, kChangeset };

// Bytes of JSON that a program is given as arguments: words of a command line or of a model, and no
// data. What is larger is a file, or comes from a tool.
inline constexpr std::size_t kMaxArguments = std::size_t{1} << 20U;

struct RunLimits {
  std::chrono::milliseconds wall = std::chrono::minutes(5);
  std::uint64_t memory = std::uint64_t{1} << 30U;   // bytes of address space
  std::uint64_t output = std::uint64_t{16} << 20U;  // bytes on standard output and error together
  sandbox::Tier lowest_tier = sandbox::Tier::kA;
  std::uint64_t file_size = std::uint64_t{100} << 20U;  // bytes of any one file that it writes
  std::uint64_t changes = std::uint64_t{1} << 30U;      // bytes of a changeset
  WritesTo writes_to = WritesTo::kPlace;
};

}  // namespace mcpac::run
