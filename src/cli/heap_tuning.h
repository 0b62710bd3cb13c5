// SPDX-License-Identifier: Apache-2.0

// Settings of glibc's heap that only the environment can give at the start of a program: bin/mcpac
// sets them, and libexec/mcpac/mcpac clears them before it starts anything.
//
// Of each size seven freed pieces are at hand without a search (GNU C Library manual, "Memory
// Allocation Tunables"). Ten calls in work free more at once: with 64, a small call through the
// gateway takes 135,000 instructions of ours instead of 146,000 (docs/benchmarks.md).
#pragma once

#include <cstdlib>
#include <string_view>

namespace mcpac::cli {

inline constexpr const char* kHeapVariable = "GLIBC_TUNABLES";
inline constexpr const char* kHeapTuning = "glibc.malloc.tcache_count=64";

// A value that the user set stays.
inline void tune_heap_of_next_program() {
  ::setenv(kHeapVariable, kHeapTuning, 0);
}

inline void forget_heap_tuning() {
  const char* set = std::getenv(kHeapVariable);
  if (set != nullptr && std::string_view(set) == kHeapTuning) ::unsetenv(kHeapVariable);
}

}  // namespace mcpac::cli
