// SPDX-License-Identifier: Apache-2.0

// libexec/mcpac/mcpac: all of mcpac. People start bin/mcpac, which becomes this (front_main.cpp).
#include <malloc.h>

#include "cli/commands.h"
#include "cli/heap_tuning.h"
#include "resident/patience.h"

namespace {

// Each large result takes memory anew and gives it back: left to itself, glibc hands it to the
// kernel in between, and taking and clearing it again was a third of what a result of 100 KiB cost.
void keep_memory_between_results() {
#ifdef __GLIBC__
  constexpr int kMiB = 1 << 20;
  ::mallopt(M_MMAP_THRESHOLD, 4 * kMiB);
  ::mallopt(M_TRIM_THRESHOLD, 16 * kMiB);
  ::mallopt(M_TOP_PAD, kMiB);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  mcpac::cli::forget_heap_tuning();
  keep_memory_between_results();
  mcpac::resident::set_patience_from_environment();
  return mcpac::cli::run(argc, argv);
}
