// RunLimits: what one run of a program may use. The defaults fit an agent that waits for tools.
#pragma once

#include <chrono>
#include <cstdint>

#include "sandbox/sandbox.h"

namespace mcpac::execute {

struct RunLimits {
  std::chrono::milliseconds wall = std::chrono::minutes(5);
  std::uint64_t memory = std::uint64_t{1} << 30U;   // bytes of address space
  std::uint64_t output = std::uint64_t{16} << 20U;  // bytes on standard output and error together
  sandbox::Tier lowest_tier = sandbox::Tier::kA;
};

}  // namespace mcpac::execute
