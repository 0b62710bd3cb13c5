/* One program, one bad (or plain) thing a run: hostile COMMAND [ARGUMENT].
 *
 * Exit 0: it worked. Exit 10: it was refused, and standard output has the errno's name. Anything
 * else is the sandbox's doing. Outside the sandbox most commands work, which is the control of the
 * tests. Static and without a sanitizer: their runtimes and a system-call filter do not live
 * together. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;
static const char* argument = "";

static void say(const char* text) {
  size_t size = strlen(text);
  if (write(1, text, size) != (ssize_t)size) _exit(11);
}

static int outcome(long result) {
  if (result >= 0) return 0;
  say(strerrorname_np(errno));
  return 10;
}

static int bare_call(void) {
  return outcome(syscall(atol(argument), 0, 0, 0, 0, 0, 0));
}

static int change_root(void) {
  return outcome(chroot(argument));
}
static void* call_and_leave(void* unused) {
  bare_call();
  return unused;
}
static int call_in_thread(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, call_and_leave, NULL) != 0) return 11;
  return pthread_join(thread, NULL) == 0 ? 0 : 11;
}
static void ignored(int number) {
  (void)number;
}
static pid_t main_thread;
static volatile int interrupted_enough;
static void* interrupt_main(void* unused) {
  while (!interrupted_enough) syscall(SYS_tgkill, main_thread, main_thread, SIGUSR1);
  return unused;
}
/* A signal ends the wait of a forbidden call before anybody may have read it. Exit 12: one of them
 * came back with more than "interrupted". */
static int interrupted_call(void) {
  struct sigaction handle = {.sa_handler = ignored};
  pthread_t thread;
  main_thread = getpid();
  if (sigaction(SIGUSR1, &handle, NULL) != 0) return 11;
  if (pthread_create(&thread, NULL, interrupt_main, NULL) != 0) return 11;
  for (;;) {
    if (syscall(SYS_keyctl, 0, 0, 0, 0, 0) >= 0 || errno != EINTR) return 12;
  }
}

/* Once only, and then nothing that is forbidden: whoever did not see the one call sees no other. */
static int interrupted_once(void) {
  struct sigaction handle = {.sa_handler = ignored};
  pthread_t thread;
  main_thread = getpid();
  if (sigaction(SIGUSR1, &handle, NULL) != 0) return 11;
  if (pthread_create(&thread, NULL, interrupt_main, NULL) != 0) return 11;
  if (syscall(SYS_keyctl, 0, 0, 0, 0, 0) >= 0 || errno != EINTR) return 12;
  interrupted_enough = 1;
  pthread_join(thread, NULL);
  for (struct timespec rest = {.tv_sec = 5}; nanosleep(&rest, &rest) != 0;) {
  }
  return 0;
}

static int hello(void) {
  say("hello");
  return 7;
}
static int leave(void) {
  return atoi(argument);
}
static int open_file(void) {
  return outcome(open(argument, O_RDONLY));
}
static int create_file(void) {
  return outcome(open(argument, O_WRONLY | O_CREAT | O_EXCL, 0644));
}
static int create_setuid(void) {
  return outcome(open(argument, O_WRONLY | O_CREAT | O_EXCL, 04755));
}
static int make_folder(void) {
  return outcome(mkdir(argument, 0755));
}
static int remove_file(void) {
  return outcome(unlink(argument));
}
static int change_mode(void) {
  return outcome(chmod(argument, 0777));
}
static int make_link(void) {
  return outcome(symlink("/etc/passwd", argument));
}
static int make_fifo(void) {
  return outcome(mknod(argument, S_IFIFO | 0644, 0));
}
static int show_file(void) {
  static char text[65536];
  int fd = open(argument, O_RDONLY);
  if (fd < 0) return outcome(fd);
  ssize_t size = read(fd, text, sizeof text);
  if (size < 0) return outcome(size);
  return write(1, text, (size_t)size) == size ? 0 : 11;
}
static int status_file(void) {
  struct stat s;
  return outcome(stat(argument, &s));
}
static int list_folder(void) {
  DIR* folder = opendir(argument);
  if (folder == NULL) return outcome(-1);
  for (;;) {
    errno = 0;
    struct dirent* entry = readdir(folder);
    if (entry == NULL) return errno == 0 ? 0 : outcome(-1);
    if (entry->d_name[0] == '.') continue;
    say(entry->d_name);
    say(" ");
  }
}
static int map_executable(void) {
  int fd = open(argument, O_RDONLY);
  if (fd < 0) return outcome(fd);
  return outcome(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED ? -1
                                                                                           : 0);
}
static int proc_memory(void) {
  return outcome(open("/proc/self/mem", O_RDWR));
}
static int write_and_run(void) {
  int fd = open("/tmp/mcpac-hostile-script", O_WRONLY | O_CREAT | O_TRUNC, 0755);
  if (fd < 0) return outcome(fd);
  unlink("/tmp/mcpac-hostile-script");
  return 0;
}

static int socket_of(int family, int type) {
  return outcome(socket(family, type, 0));
}
static int socket_inet(void) {
  return socket_of(AF_INET, SOCK_STREAM);
}
static int socket_inet6(void) {
  return socket_of(AF_INET6, SOCK_DGRAM);
}
static int socket_unix(void) {
  return socket_of(AF_UNIX, SOCK_STREAM);
}
static int socket_netlink(void) {
  return socket_of(AF_NETLINK, SOCK_RAW);
}
static int socket_vsock(void) {
  return socket_of(AF_VSOCK, SOCK_STREAM);
}
static int socket_pair(void) {
  int ends[2];
  return outcome(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
}
static int connect_channel(void) {
  struct sockaddr none = {.sa_family = AF_UNSPEC};
  return outcome(connect(3, &none, sizeof none));
}
static int receive_descriptors(void) {
  char byte, control[64];
  struct iovec part = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  return outcome(recvmsg(3, &message, 0));
}

static int processes(long child) {
  if (child == 0) _exit(0);
  return outcome(child);
}
static int by_fork(void) {
  return processes(syscall(SYS_fork));
}
static int by_vfork(void) {
  /* By clone, as the bare call cannot return twice to the same frame from C. */
  return processes(syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0));
}
static int by_clone3(void) {
  struct clone_args how = {.exit_signal = SIGCHLD};
  return processes(syscall(SYS_clone3, &how, sizeof how));
}
static int clone_user(void) {
  return processes(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
}
static int clone_thread_user(void) {
  /* Nothing legitimate asks for a thread in new namespaces. */
  return processes(
      syscall(SYS_clone, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_NEWUSER, 0, 0, 0, 0));
}
static int run_shell(void) {
  char* arguments[] = {"sh", "-c", "exit 0", NULL};
  execve("/bin/sh", arguments, environ);
  return outcome(-1);
}
static int run_again(void) {
  /* Every descriptor there could be, then one put where the sandbox had its own. */
  char* arguments[] = {"hostile", "hello", NULL};
  for (int fd = 0; fd < 2048; ++fd)
    syscall(SYS_execveat, fd, "", arguments, environ, AT_EMPTY_PATH);
  for (int from = 0; from < 64; ++from) {
    dup2(from, 1000);
    dup3(from, 1000, 0);
    fcntl(from, F_DUPFD, 1000);
  }
  syscall(SYS_execveat, 1000, "", arguments, environ, AT_EMPTY_PATH);
  return outcome(-1);
}
static int trace_me(void) {
  return outcome(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}
static int trace_parent(void) {
  return outcome(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
}
static int read_other_memory(void) {
  char byte;
  struct iovec here = {&byte, 1}, there = {&byte, 1};
  return outcome(process_vm_readv(1, &here, 1, &there, 1, 0));
}
static int signal_all(void) {
  return outcome(kill(-1, 0));
}
static int signal_other(void) {
  return outcome(kill(atoi(argument), 0));
}
static int lie_about_files(void) {
  kill(getpid(), SIGXFSZ);
  return 3;
}
static int signal_self(void) {
  return outcome(raise(SIGWINCH));
}

static int raise_limit(void) {
  struct rlimit limit = {1024, 1024};
  return outcome(setrlimit(RLIMIT_NOFILE, &limit));
}
static int raise_limit_old(void) {
  struct rlimit limit = {1024, 1024};
  return outcome(syscall(SYS_setrlimit, RLIMIT_NOFILE, &limit));
}
static int read_limit(void) {
  struct rlimit limit;
  return outcome(getrlimit(RLIMIT_NOFILE, &limit));
}
static int memory_file(void) {
  return outcome(memfd_create("x", 0));
}
static int shared_memory(void) {
  return outcome(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) ==
                         MAP_FAILED
                     ? -1
                     : 0);
}
static int push_terminal_input(void) {
  char c = 'x';
  return outcome(ioctl(0, TIOCSTI, &c));
}
static int old_arch(void) {
#if defined(__x86_64__)
  long result = 20; /* getpid, to the 32-bit kernel interface */
  __asm__ volatile("int $0x80" : "+a"(result) : : "memory");
  return outcome(result);
#else
  return 0;
#endif
}
static int x32_call(void) {
  return outcome(syscall(SYS_getpid | 0x40000000));
}
static int dynamic_clock(void) {
  struct timespec t;
  return outcome(clock_gettime((clockid_t)((~1U << 3) | 2), &t));
}
static int priority_futex(void) {
  uint32_t word = 0;
  return outcome(syscall(SYS_futex, &word, 6, 0, NULL, NULL, 0));
}

static void* idle(void* unused) {
  for (;;) pause(), sleep(1);
  return unused;
}
static void* nothing(void* unused) {
  return unused;
}
static int thread_count(void) {
  int made = 0;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  for (; made < 200; ++made) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, idle, NULL) != 0) break;
  }
  char text[32];
  snprintf(text, sizeof text, "%d", made);
  say(text);
  return 0;
}
static int threads_work(void) {
  for (int i = 0; i < 50; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0)
      return 11;
  }
  return 0;
}
/* Not exponential: a case that goes off outside the sandbox must not take the machine with it. */
static int fork_bomb(void) {
  for (int i = 0; i < 20; ++i) {
    pid_t child = fork();
    if (child < 0) return outcome(-1);
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
  }
  return 0;
}
static int allocate(void) {
  size_t wanted = (size_t)atol(argument) << 20;
  for (size_t done = 0; done < wanted; done += 1 << 20) {
    char* block = malloc(1 << 20);
    if (block == NULL) return outcome(-1);
    memset(block, 1, 1 << 20);
  }
  return 0;
}
static int spin(void) {
  for (volatile unsigned long i = 0;; ++i) {
  }
  return 0;
}
static int stay(void) {
  for (;;) sleep(1000);
  return 0;
}
static int ignore_term(void) {
  for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
  say("ready");
  for (;;) sleep(1000);
  return 0;
}
static int orphan(void) {
  pid_t child = fork();
  if (child < 0) return outcome(-1);
  if (child == 0) {
    if (fork() == 0) sleep(3);
    _exit(0);
  }
  return 0;
}
static int flood(void) {
  static char block[65536];
  memset(block, 'x', sizeof block);
  while (write(1, block, sizeof block) > 0) {
  }
  return outcome(-1);
}

static int descriptors(void) {
  char text[32];
  for (int fd = 0; fd < 70000; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) continue;
    snprintf(text, sizeof text, "%d ", fd);
    say(text);
  }
  return 0;
}
static int environment(void) {
  for (char** entry = environ; *entry != NULL; ++entry) say(*entry), say("\n");
  return 0;
}
static int identity(void) {
  char text[96];
  snprintf(text, sizeof text, "%lu %lu %lu %d", getauxval(AT_UID), getauxval(AT_EUID),
           getauxval(AT_GID), getpid());
  say(text);
  return 0;
}
static int host_name(void) {
  struct utsname name;
  if (uname(&name) != 0) return outcome(-1);
  say(name.nodename);
  return 0;
}
static int working_folder(void) {
  char path[4096];
  if (getcwd(path, sizeof path) == NULL) return outcome(-1);
  say(path);
  return 0;
}
static int echo(void) {
  char block[4096];
  ssize_t size;
  while ((size = read(0, block, sizeof block)) > 0) {
    if (write(1, block, (size_t)size) != size) return 11;
  }
  return size < 0 ? outcome(-1) : 0;
}
static int channel(void) {
  char block[64];
  ssize_t size = read(3, block, sizeof block);
  return size > 0 && write(3, block, (size_t)size) == size ? 0 : 11;
}
static int signals(void) {
  struct sigaction now;
  sigset_t mask;
  for (int number = 1; number < 32; ++number) {
    if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_DFL) say("changed ");
  }
  if (sigprocmask(SIG_SETMASK, NULL, &mask) != 0) return 11;
  for (int number = 1; number < 32; ++number) {
    if (sigismember(&mask, number)) say("blocked ");
  }
  return 0;
}
static int crash(void) {
  *(volatile int*)8 = 1;
  return 0;
}
static int do_abort(void) {
  abort();
}
/* 64 MiB of stack, a little at a time; outside too, where it has as much as this machine gives. */
__attribute__((noinline)) static int dive(int depth) {
  volatile char room[4096];
  room[0] = (char)depth;
  return depth == 0 ? room[0] : dive(depth - 1) + room[0];
}
static int overflow(void) {
  return dive(16384) == 12345;
}
/* The same at once. */
static int overflow_at_once(void) {
  volatile char room[48 << 20];
  room[0] = 1;
  room[sizeof room / 2] = 1;
  return room[0] + room[sizeof room / 2] == 12345;
}
/* Deep, but within the limit. */
static int deep(void) {
  return dive(1500) == 12345;
}
/* A pointer into the empty room below the stack, which is not what its function uses. */
static int crash_below_stack(void) {
  char here = 0;
  *(volatile char*)((uintptr_t)&here - (24u << 20)) = 1;
  return 0;
}
static void after_crash(int number) {
  (void)number;
  _exit(42);
}
static int crash_and_go_on(void) {
  signal(SIGSEGV, after_crash);
  return crash();
}
static int threads_or_abort(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  for (;;) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, idle, NULL) != 0) abort();
  }
}
/* Standard output is a file: what does not fit is an error to a program that ignores the signal. */
static int fill(void) {
  static char block[65536];
  signal(SIGXFSZ, SIG_IGN);
  for (int i = 0; i < 64; ++i) {
    if (write(1, block, sizeof block) < 0) return errno == EFBIG ? atoi(argument) : 11;
  }
  return 12;
}
/* Many files, none of them large. */
static int fill_files(void) {
  static char block[1 << 20];
  for (int i = 0; i < 160; ++i) {
    char path[64];
    snprintf(path, sizeof path, "file-%d", i);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (fd < 0 || write(fd, block, sizeof block) != (ssize_t)sizeof block) return outcome(-1);
    close(fd);
  }
  return 0;
}
// Reads all of a file through a mapping, and stays for some looks of the warden.
static int map_file(void) {
  int fd = open(argument, O_RDONLY);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0) return outcome(-1);
  const volatile char* bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (bytes == MAP_FAILED) return outcome(-1);
  char sum = 0;
  for (off_t at = 0; at < info.st_size; at += 4096) sum ^= bytes[at];
  usleep(700 * 1000);
  return sum;
}
static int breakpoint(void) {
  __asm__ volatile("int3");
  return 3;
}
static void passed(int signal) { (void)signal; }
static int breakpoint_handled(void) {
  signal(SIGTRAP, passed);
  return breakpoint();
}
static void* crash_there(void* unused) {
  crash();
  return unused;
}
static void* abort_there(void* unused) {
  do_abort();
  return unused;
}
static int in_thread(void* (*what)(void*)) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, what, NULL) != 0) return 11;
  pthread_join(thread, NULL);
  return 0;
}
static int crash_in_thread(void) {
  return in_thread(crash_there);
}
static int abort_in_thread(void) {
  return in_thread(abort_there);
}
static int signal_flood(void) {
  signal(SIGUSR1, SIG_IGN);
  for (int i = 0; i < 100000; ++i) kill(getpid(), SIGUSR1);
  return 0;
}
static int stop_then_leave(void) {
  raise(SIGSTOP);
  return 7;
}

static const struct {
  const char* name;
  int (*run)(void);
} kCommands[] = {{"hello", hello},
                 {"leave", leave},
                 {"call", bare_call},
                 {"change-root", change_root},
                 {"call-in-thread", call_in_thread},
                 {"interrupted-call", interrupted_call},
                 {"interrupted-once", interrupted_once},
                 {"open", open_file},
                 {"create", create_file},
                 {"create-setuid", create_setuid},
                 {"make-folder", make_folder},
                 {"remove", remove_file},
                 {"change-mode", change_mode},
                 {"make-link", make_link},
                 {"make-fifo", make_fifo},
                 {"show", show_file},
                 {"stat", status_file},
                 {"list", list_folder},
                 {"map-executable", map_executable},
                 {"proc-memory", proc_memory},
                 {"write-and-run", write_and_run},
                 {"socket-inet", socket_inet},
                 {"socket-inet6", socket_inet6},
                 {"socket-unix", socket_unix},
                 {"socket-netlink", socket_netlink},
                 {"socket-vsock", socket_vsock},
                 {"socket-pair", socket_pair},
                 {"connect-channel", connect_channel},
                 {"receive-descriptors", receive_descriptors},
                 {"fork", by_fork},
                 {"vfork", by_vfork},
                 {"clone3", by_clone3},
                 {"clone-user", clone_user},
                 {"clone-thread-user", clone_thread_user},
                 {"run-shell", run_shell},
                 {"run-again", run_again},
                 {"trace-parent", trace_parent},
                 {"trace-me", trace_me},
                 {"read-other-memory", read_other_memory},
                 {"signal-all", signal_all},
                 {"signal-other", signal_other},
                 {"signal-self", signal_self},
                 {"lie-about-files", lie_about_files},
                 {"raise-limit", raise_limit},
                 {"raise-limit-old", raise_limit_old},
                 {"read-limit", read_limit},
                 {"memory-file", memory_file},
                 {"shared-memory", shared_memory},
                 {"push-terminal-input", push_terminal_input},
                 {"old-arch", old_arch},
                 {"x32", x32_call},
                 {"dynamic-clock", dynamic_clock},
                 {"priority-futex", priority_futex},
                 {"thread-count", thread_count},
                 {"threads-work", threads_work},
                 {"fork-bomb", fork_bomb},
                 {"allocate", allocate},
                 {"spin", spin},
                 {"stay", stay},
                 {"ignore-term", ignore_term},
                 {"orphan", orphan},
                 {"flood", flood},
                 {"descriptors", descriptors},
                 {"environment", environment},
                 {"identity", identity},
                 {"host-name", host_name},
                 {"working-folder", working_folder},
                 {"echo", echo},
                 {"channel", channel},
                 {"signals", signals},
                 {"crash", crash},
                 {"abort", do_abort},
                 {"overflow", overflow},
                 {"overflow-at-once", overflow_at_once},
                 {"deep", deep},
                 {"crash-below-stack", crash_below_stack},
                 {"crash-and-go-on", crash_and_go_on},
                 {"threads-or-abort", threads_or_abort},
                 {"fill", fill},
                 {"fill-files", fill_files},
                 {"map-file", map_file},
                 {"breakpoint", breakpoint},
                 {"breakpoint-handled", breakpoint_handled},
                 {"crash-in-thread", crash_in_thread},
                 {"abort-in-thread", abort_in_thread},
                 {"signal-flood", signal_flood},
                 {"stop-then-leave", stop_then_leave}};

int main(int count, char** words) {
  if (count > 2) argument = words[2];
  for (size_t i = 0; count > 1 && i < sizeof kCommands / sizeof *kCommands; ++i) {
    if (strcmp(words[1], kCommands[i].name) == 0) return kCommands[i].run();
  }
  return 64;
}
