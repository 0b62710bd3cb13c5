// SPDX-License-Identifier: Apache-2.0

#include "gateway/kept_memory.h"

#include <malloc.h>

#include <cstdlib>

namespace mcpac::gateway {
namespace {

#ifdef __GLIBC__
constexpr int kKiB = 1 << 10;
constexpr int kMiB = 1 << 20;
constexpr int kKept = 64 * kMiB;  // at the end of an arena

// The end of a thread's own arena shrinks only when something large beside it is freed.
void shrink_own_arena() {
  void* volatile piece = std::malloc(128 * kKiB);  // volatile: the pair is not left out
  std::free(piece);
}
#endif

}  // namespace

void keep_memory_of_results() {
#ifdef __GLIBC__
  ::mallopt(M_MMAP_THRESHOLD, 32 * kMiB);  // the most that it can be: twice the largest message
  ::mallopt(M_TRIM_THRESHOLD, kKept);
#endif
}

void give_back_memory() {
#ifdef __GLIBC__
  ::mallopt(M_TRIM_THRESHOLD, 128 * kKiB);
  shrink_own_arena();
  ::mallopt(M_TRIM_THRESHOLD, kKept);
  ::malloc_trim(0);  // what is free between what is in use, everywhere
#endif
}

}  // namespace mcpac::gateway
