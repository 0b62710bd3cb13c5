/* Limits: what never ends, never stops growing, or never says enough. */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "cases.h"

enum { kMiB = 1 << 20 };

static void* idle(void* unused) {
  for (;;) sleep(1000);
  return unused;
}
static void* burn(void* unused) {
  for (volatile unsigned long i = 0;; ++i) {
  }
  return unused;
}
static long threads(int wanted, void* (*body)(void*)) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  for (int made = 0; made < wanted; ++made) {
    pthread_t thread;
    int error = pthread_create(&thread, &attributes, body, NULL);
    if (error == 0) continue;
    char text[32];
    snprintf(text, sizeof text, "%d ", made);
    say(text);
    errno = error;
    return -1;
  }
  return 0;
}
CASE(thread_bomb) {
  const long refused = threads(200, idle);
  if (refused == 0) nanosleep(&(struct timespec){3, 0}, NULL); /* so that a look finds them */
  return refused;
}
/* What the kernel does for whoever asks in ordinary ways must still work. */
CASE(thread_work) { return threads(8, idle); }
CASE(spin) { return burn(NULL) != NULL; }
CASE(spin_in_threads) {
  threads(3, burn);
  return burn(NULL) != NULL;
}
CASE(sleep_on) { return idle(NULL) != NULL; }
CASE(sleep_in_call) { return nanosleep(&(struct timespec){100000, 0}, NULL); }
CASE(ignore_signals) {
  for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  return idle(NULL) != NULL;
}
CASE(close_and_stay) {
  for (int fd = 0; fd < 64; ++fd) close(fd);
  return idle(NULL) != NULL;
}
CASE(leader_leaves) { /* the first thread ends, another stays */
  if (threads(1, idle) != 0) return -1;
  syscall(SYS_exit, 0);
  return 0;
}
CASE(stop_itself) { return raise(SIGSTOP); }

CASE(memory_malloc) {
  for (int i = 0; i < 128; ++i) {
    char* block = malloc(kMiB);
    if (block == NULL) return -1;
    memset(block, 1, kMiB);
  }
  return 0;
}
CASE(memory_brk) {
  unsigned long end = (unsigned long)syscall(SYS_brk, 0);
  unsigned long wanted = end + (512UL << 20U);
  if ((unsigned long)syscall(SYS_brk, wanted) == wanted) return 0;
  errno = ENOMEM;
  return -1;
}
CASE(memory_grow) {
  char* block = mmap(NULL, kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mremap(block, kMiB, 512UL << 20U, MREMAP_MAYMOVE) == MAP_FAILED ? -1 : 0;
}
CASE(memory_protect_late) { /* reserved without rights, then made writable */
  char* block = mmap(NULL, 512UL << 20U, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return -1;
  return mprotect(block, 512UL << 20U, PROT_READ | PROT_WRITE);
}
CASE(memory_reserve_all) {
  return mmap(NULL, 1UL << 45U, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED ? -1 : 0;
}
/* Past RLIMIT_DATA: it counts what is writable now, and not as a stack is. */
static void stay_a_while(void) { nanosleep(&(struct timespec){2, 0}, NULL); }
static long hide_memory(void) {
  enum { kPiece = 4 * kMiB };
  for (int i = 0; i < 64; ++i) {
    char* block = mmap(NULL, kPiece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return -1;
    memset(block, 1, kPiece);
    if (mprotect(block, kPiece, PROT_READ) != 0) return -1;
  }
  stay_a_while();
  return 0;
}
CASE(memory_hide) { return hide_memory(); }
static void* hide_and_leave(void* unused) {
  _exit(hide_memory() == 0 ? 0 : 15);
  return unused;
}
CASE(memory_hide_without_leader) { /* whose number nobody holds memory under any more */
  if (threads(1, hide_and_leave) != 0) return -1;
  syscall(SYS_exit, 0);
  return 0;
}
CASE(memory_hide_as_stack) {
  char room[65536];
  memset(room, 1, sizeof room);
  char* page = (char*)(((unsigned long)room + 8192) & ~4095UL);
  char* block = mremap(page, 4096, 256UL << 20U, MREMAP_MAYMOVE);
  if (block == MAP_FAILED) return -1;
  memset(block, 1, 256UL << 20U);
  stay_a_while();
  return 0;
}
CASE(memory_grow_down) {
  return mmap(NULL, 512UL << 20U, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0) == MAP_FAILED ? -1 : 0;
}
CASE(memory_allowed) {
  char* block = malloc(32UL << 20U);
  if (block == NULL) return -1;
  memset(block, 1, 32UL << 20U);
  return block[5] - 1;
}
static int dive(int depth) {
  volatile char room[65536];
  room[0] = (char)depth;
  return depth == 0 ? room[0] : dive(depth - 1) + room[0];
}
CASE(stack_dive) { return dive(1024) == 12345; } /* 64 MiB */
CASE(crash) {
  *(volatile int*)8 = 1;
  return 0;
}
CASE(give_up) { abort(); }

static long flood_to(int fd) {
  static char block[65536];
  memset(block, 'x', sizeof block);
  for (int i = 0; i < 640; ++i) /* 40 MiB: enough for every limit, harmless outside */
    if (write(fd, block, sizeof block) < 0) {
      _exit(errno == EPIPE ? 12 : errno == EFBIG ? 13 : 14);
    }
  return 0;
}
CASE(flood_output) { return flood_to(1); }
CASE(flood_slowly) {
  for (;;) {
    if (write(1, "x", 1) < 0) return -1;
    nanosleep(&(struct timespec){0, 2000000}, NULL);
  }
}
CASE(fill_file) { return flood_to(1); }
