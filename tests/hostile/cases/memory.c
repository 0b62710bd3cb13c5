/* Memory: shared, hidden, or where no limit counts it. */
#include <sys/ipc.h>
#include <sys/mman.h>

#include "cases.h"

static long map(size_t size, int flags) {
  return mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0;
}
CASE(share_anonymous) { return map(4096, MAP_SHARED); }
CASE(share_validated) {
  int fd = open(at("own.txt"), O_RDWR);
  return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE, fd, 0) == MAP_FAILED ? -1 : 0;
}
CASE(share_zero_device) {
  int fd = open("/dev/zero", O_RDWR);
  return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0;
}
CALL(share_system_v, SYS_shmget, IPC_PRIVATE, 4096, 0600)
CALL(semaphores, SYS_semget, 0, 1, 0600)
CALL(messages, SYS_msgget, 0, 0600)
CALL(messages_posix, SYS_mq_open, "mcpac-hostile", O_RDWR | O_CREAT, 0600, NULL)
CASE(map_droppable) { return map(4096, 8 /* MAP_DROPPABLE */); }
CASE(map_as_stack) { return map(4096, MAP_PRIVATE | MAP_GROWSDOWN); }
CASE(map_leaked_file) {
  int fd = open(at("secret.txt"), O_RDONLY);
  return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED ? -1 : 0;
}
CASE(lock_pages) {
  static char page[4096];
  return syscall(SYS_mlock, page, sizeof page);
}
CALL(lock_everything, SYS_mlockall, MCL_CURRENT)
CASE(lock_by_map) { return map(4096, MAP_PRIVATE | MAP_LOCKED); }
CALL(resident_pages, SYS_mincore, (unsigned long)&map & ~4095UL, 4096, (char[8]){0})
NONSENSE(protection_key, EINVAL, SYS_pkey_alloc, 0, 0)
NONSENSE(move_file_pages, EINVAL, SYS_remap_file_pages, 0, 0, 0, 0, 0)
NONSENSE(poison_page, EINVAL, SYS_madvise, (unsigned long)&map & ~4095UL, 0, 100 /* MADV_HWPOISON */)
CALL(keep_over_fork, SYS_madvise, (unsigned long)&map & ~4095UL, 4096, MADV_DONTFORK)
CALL(merge_pages, SYS_madvise, (unsigned long)&map & ~4095UL, 0, MADV_MERGEABLE)
CALL(seal_pages, 462 /* mseal */, 0, 0, 0)
/* Not held: the memory of the program is its own, also to write code into (threat model). */
CASE(write_code) {
  unsigned char code[] = {0xb8, 0x2a, 0, 0, 0, 0xc3}; /* return 42 */
  void* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return -1;
  memcpy(page, code, sizeof code);
  return ((int (*)(void))page)() == 42 ? 0 : -1;
}
