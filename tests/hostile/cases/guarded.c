/* Guarded: what a program does with names that must stay as they are, in a place that it may write
 * (`word`), in which .git, .envrc and mcpac.json are kept. `sub/.git` is there, and so are `empty`, an
 * empty folder, and `dangling`, a link to .envrc. The places named/hooks and called.sh are kept, and
 * `to_called` is a link to the second. */
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>

#include "cases.h"

static const char* in_place(const char* name) {
  static char texts[8][4096];
  static unsigned next;
  char* text = texts[next++ % 8];
  snprintf(text, sizeof texts[0], "%s/%s", word, name);
  return text;
}
static volatile int running = 1;
static int fresh(const char* name) {
  const char* path = in_place(name);
  unlink(path);
  rmdir(path);
  return mkdir(path, 0755);
}
static int file(const char* name) {
  return open(in_place(name), O_WRONLY | O_CREAT | O_TRUNC, 0644);
}
static long exchange(const char* one, const char* other) {
  return syscall(SYS_renameat2, AT_FDCWD, in_place(one), AT_FDCWD, in_place(other), 2);
}

/* All that writing is, through the guard. */
CASE(guarded_works) {
  struct stat info;
  umask(027);
  if (fresh("work") != 0) return -1;
  int dir = open(in_place("work"), O_RDONLY | O_DIRECTORY);
  if (mkdirat(dir, "deep", 0777) != 0 || stat(in_place("work/deep"), &info) != 0) return -1;
  if ((info.st_mode & 0777) != 0750) _exit(21);
  int fd = openat(dir, "deep/a", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0 || fstat(fd, &info) != 0) return -1;
  if ((info.st_mode & 0777) != 0640 || fcntl(fd, F_GETFD) != FD_CLOEXEC) _exit(22);
  if (write(fd, "text", 4) != 4 || ftruncate(fd, 2) != 0 || close(fd) != 0) return -1;
  if (openat(dir, "deep/a", O_WRONLY | O_CREAT | O_EXCL, 0666) >= 0 || errno != EEXIST) _exit(23);
  if (truncate(in_place("work/deep/a"), 1) != 0) return -1;
  fd = open(in_place("work/deep/a"), O_WRONLY | O_APPEND);
  if (fd < 0 || fcntl(fd, F_GETFD) != 0 || write(fd, "x", 1) != 1 || close(fd) != 0) return -1;
  if (renameat(dir, "deep/a", dir, "b") != 0) return -1;
  if (stat(in_place("work/b"), &info) != 0 || info.st_size != 2) _exit(24);
  fd = open(in_place("work"), O_TMPFILE | O_RDWR, 0600);
  if (fd < 0 || close(fd) != 0) return -1;
  if (syscall(SYS_renameat2, dir, "b", dir, "deep/c", 1) != 0) return -1;
  if (unlinkat(dir, "deep/c", 0) != 0 || unlinkat(dir, "deep", AT_REMOVEDIR) != 0) return -1;
  if (mkdir(in_place("work/x/"), 0700) != 0 || rmdir(in_place("work/x/")) != 0) return -1;
  if (mkdir(in_place("work/."), 0700) == 0 || errno != EEXIST) _exit(25);
  if (unlink(in_place("work/none")) == 0 || errno != ENOENT) _exit(26);
  if (open(in_place("work/none"), O_WRONLY) >= 0 || errno != ENOENT) _exit(27);
  if (openat(400, "x", O_WRONLY | O_CREAT, 0600) >= 0) _exit(28);
  return rmdir(in_place("work"));
}

/* A descriptor that only names a file: it makes nothing, changes nothing, and is no way to either. */
CASE(guarded_path_only) {
  struct stat info;
  const int flags = O_PATH | O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC;
  if (open(in_place("none"), flags, 0600) >= 0 || errno != ENOENT) _exit(21);
  if (stat(in_place("sub/.git/config"), &info) != 0) return -1;
  const off_t size = info.st_size;
  int fd = open(in_place("sub/.git/config"), flags, 0600);
  if (fd < 0 || fcntl(fd, F_GETFD) != FD_CLOEXEC) return -1;
  if (fstat(fd, &info) != 0 || info.st_size != size) _exit(22);
  if (write(fd, "x", 1) >= 0 || errno != EBADF) _exit(23);
  if (ftruncate(fd, 0) >= 0 || errno != EBADF) _exit(24);
  char again[64];
  snprintf(again, sizeof again, "/proc/self/fd/%d", fd);
  if (open(again, O_WRONLY | O_TRUNC) >= 0 || truncate(again, 0) == 0) _exit(25);
  int dir = open(in_place("sub"), O_PATH | O_WRONLY | O_DIRECTORY);
  return dir < 0 ? -1 : openat(dir, ".git/config", O_WRONLY);
}

/* Larger than a file may be. */
CASE(guarded_grow) {
  close(file("grown"));
  return truncate(in_place("grown"), 512L << 20U);
}

/* Making one, in whatever folder and however it is written. */
CASE(guarded_make_folder) { return mkdir(in_place("empty/.git"), 0755); }
CASE(guarded_make_in_new) {
  if (fresh("new") != 0) return -1;
  return mkdir(in_place("new/.git"), 0755);
}
CASE(guarded_make_by_dots) { return mkdir(in_place("empty/../empty/./.git//"), 0755); }
CASE(guarded_make_by_folder) {
  int dir = open(in_place("empty"), O_RDONLY | O_DIRECTORY);
  return mkdirat(dir, ".git", 0755);
}
CASE(guarded_make_file) { return file(".envrc"); }
CASE(guarded_make_other_case) { return file(".ENVRC"); }
CASE(guarded_make_unseen) { return mkdir(in_place("empty/.g\xe2\x80\x8dit"), 0755); }
CASE(guarded_make_through_link) { return file("dangling"); }
CASE(guarded_make_in_kept) { return file("sub/.git/hooks"); }
CASE(guarded_rename_to) {
  if (fresh("new") != 0) return -1;
  return rename(in_place("new"), in_place("empty/.git"));
}
CASE(guarded_rename_file_to) {
  close(file("plain"));
  return rename(in_place("plain"), in_place("mcpac.json"));
}
CASE(guarded_link_to) {
  close(file("plain"));
  return link(in_place("plain"), in_place("mcpac.json"));
}
CASE(guarded_symlink_to) { return symlink("plain", in_place("mcpac.json")); }

/* What is there: written, emptied, removed, given away, moved away with what it lies in. */
CASE(guarded_write) { return open(in_place("sub/.git/config"), O_WRONLY); }
CASE(guarded_empty) { return truncate(in_place("sub/.git/config"), 0); }
CASE(guarded_empty_by_reading) { return open(in_place("sub/.git/config"), O_RDONLY | O_TRUNC); }
CASE(guarded_remove) { return unlink(in_place("sub/.git/config")); }
CASE(guarded_rename_away) { return rename(in_place("sub/.git"), in_place("git")); }
CASE(guarded_move_parent) { return rename(in_place("sub"), in_place("away")); }
CASE(guarded_move_parent_by_folder) {
  int dir = open(word, O_RDONLY | O_DIRECTORY);
  return renameat(dir, "sub/", dir, "away/");
}
CASE(guarded_exchange_parent) {
  if (fresh("other") != 0) return -1;
  return exchange("sub", "other");
}
CASE(guarded_exchange_with_parent) {
  if (fresh("other") != 0) return -1;
  return exchange("other", "sub");
}

/* A folder that git takes for a repository, whatever it is called. */
CASE(guarded_repository) {
  if (fresh("bare") != 0 || fresh("bare/objects") != 0 || fresh("bare/refs") != 0) return -1;
  return file("bare/HEAD");
}
CASE(guarded_repository_by_rename) {
  if (fresh("bare2") != 0 || fresh("bare2/objects") != 0 || fresh("bare2/x") != 0) return -1;
  close(file("bare2/HEAD"));
  return rename(in_place("bare2/x"), in_place("bare2/refs"));
}
CASE(guarded_worktree) {
  if (fresh("tree") != 0) return -1;
  close(file("tree/commondir"));
  return file("tree/HEAD");
}

/* What a configuration names, there or not, and what would bring another there. */
CASE(guarded_named) {
  if (fresh("named") != 0) return -1;
  return mkdir(in_place("named/hooks"), 0755);
}
CASE(guarded_named_below) {
  if (fresh("named") != 0) return -1;
  return file("named/../named/hooks");
}
CASE(guarded_named_by_link) { return open(in_place("to_called"), O_WRONLY | O_TRUNC); }
CASE(guarded_named_by_rename) {
  rmdir(in_place("named"));
  if (fresh("other2") != 0 || mkdir(in_place("other2/hooks"), 0755) != 0) return -1;
  int done = rename(in_place("other2"), in_place("named"));
  int error = errno;
  rmdir(in_place("other2/hooks"));
  rmdir(in_place("other2"));
  errno = error;
  return done;
}

/* A pipe without another end: the guard does not wait, and serves on. */
CASE(guarded_pipe) {
  if (open(in_place("pipe"), O_WRONLY) >= 0) return 0;
  const int error = errno;
  int fd = open(in_place("pipe"), O_RDWR);
  if (fd < 0 || (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0 || close(fd) != 0) _exit(21);
  fd = file("after");
  if (fd < 0 || close(fd) != 0) _exit(22);
  errno = error;
  return -1;
}

/* Signals that a program handles are no reason to make anything twice, or not at all. */
static volatile int signals;
static void count(int number) {
  (void)number;
  ++signals;
}
/* Several for each call, and time between them for one to end: without a pause a call may be begun
 * anew for as long as the scheduler likes. */
static void* disturb(void* thread) {
  const struct timespec pause = {0, 20000};
  while (running) {
    pthread_kill(*(pthread_t*)thread, SIGUSR1);
    nanosleep(&pause, NULL);
  }
  return NULL;
}
CASE(guarded_signals) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = count;
  action.sa_flags = SA_RESTART;
  if (sigaction(SIGUSR1, &action, NULL) != 0 || fresh("many") != 0) return -1;
  pthread_t self = pthread_self();
  pthread_t other;
  if (pthread_create(&other, NULL, disturb, &self) != 0) _exit(21);
  int failed = 0;
  for (int i = 0; i < 500 && failed == 0; ++i) {
    char name[32];
    snprintf(name, sizeof name, "many/%d", i);
    if (mkdir(in_place(name), 0755) != 0 || rmdir(in_place(name)) != 0) failed = errno;
  }
  running = 0;
  pthread_join(other, NULL);
  if (signals == 0) _exit(22);
  rmdir(in_place("many"));
  errno = failed;
  return failed == 0 ? 0 : -1;
}

/* One thread calls, another exchanges the path under it. */
static char shared[4096];
static void* flip(void* at) {
  char* last = at;
  while (running) {
    *last = 'x';
    *last = 't';
  }
  return NULL;
}
CASE(guarded_race) {
  snprintf(shared, sizeof shared, "%s/empty/.git", word);
  char* last = shared + strlen(shared) - 1;
  pthread_t thread;
  if (pthread_create(&thread, NULL, flip, last) != 0) _exit(21);
  struct stat info;
  int found = 0;
  for (int i = 0; i < 3000 && !found; ++i) {
    mkdir(shared, 0755);
    rmdir(in_place("empty/.gix"));
    found = lstat(in_place("empty/.git"), &info) == 0;
  }
  running = 0;
  pthread_join(thread, NULL);
  errno = EACCES;
  return found ? 0 : -1;
}
/* Other calls are ended as ever, also from another thread. */
static void* forbidden(void* unused) {
  getxattr("/", "user.x", NULL, 0);
  return unused;
}
CASE(guarded_forbidden) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, forbidden, NULL) != 0) _exit(21);
  pthread_join(thread, NULL);
  return 0;
}
CASE(guarded_make_set_id) { return mkdir(in_place("empty/powerful"), 04755); }
CASE(guarded_bad_address) { return mkdir((const char*)16, 0755) == 0 ? 0 : -1; }
