#include "resident/page_prefault.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace mcpac::resident {
namespace {

#ifndef MADV_POPULATE_READ
constexpr int MADV_POPULATE_READ = 22;  // Linux 5.14
#endif

int touch_object(dl_phdr_info* object, std::size_t, void*) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    // What may be written would become a copy of the process's own: memory that it may never need.
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
    const std::uintptr_t begin = (object->dlpi_addr + part.p_vaddr) / page * page;
    const std::uintptr_t end = object->dlpi_addr + part.p_vaddr + part.p_memsz;
    static_cast<void>(::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_READ));
  }
  return 0;
}

}  // namespace

void touch_program() {
  ::dl_iterate_phdr(touch_object, nullptr);
}

}  // namespace mcpac::resident
