#include "gateway/kept_memory.h"

#include <malloc.h>

namespace mcpac::gateway {

void keep_memory_of_results() {
#ifdef __GLIBC__
  constexpr int kMiB = 1 << 20;
  ::mallopt(M_MMAP_THRESHOLD, 32 * kMiB);  // the most that it can be: twice the largest message
  ::mallopt(M_TRIM_THRESHOLD, 64 * kMiB);
#endif
}

void give_back_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace mcpac::gateway
