/* Granted: what a program does that was given a place to read, or to read and write (`word`). Its
 * targets lie beside the place, in FOLDER. Whatever such a case makes, it makes in the place. */
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "cases.h"

static const char* in_place(const char* name) {
  static char texts[4][4096];
  static unsigned next;
  char* text = texts[next++ % 4];
  snprintf(text, sizeof texts[0], "%s/%s", word, name);
  return text;
}
static int make(const char* name) {
  int fd = open(in_place(name), O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) _exit(20); /* the grant itself does not work */
  return fd;
}
static long reads(const char* path) {
  char text[64];
  int fd = open(path, O_RDONLY);
  return fd < 0 ? -1 : read(fd, text, sizeof text);
}

/* What such a program is meant to do. */
CASE(granted_read) { return reads(in_place("given.txt")); }
CASE(granted_write) {
  int fd = make("written");
  if (write(fd, "x", 1) != 1 || close(fd) != 0) return -1;
  if (rename(in_place("written"), in_place("renamed")) != 0) return -1;
  return unlink(in_place("renamed"));
}

/* Beside the place. */
CASE(granted_read_beside) { return reads(at("secret.txt")); }
CASE(granted_read_by_dots) {
  char path[8192];
  snprintf(path, sizeof path, "%s/../../..%s", word, at("secret.txt"));
  return reads(path);
}
CASE(granted_read_by_folder) {
  int place = open(word, O_RDONLY | O_DIRECTORY);
  char path[8192];
  snprintf(path, sizeof path, "../../../../../../..%s", at("secret.txt"));
  int fd = openat(place, path, O_RDONLY);
  return fd < 0 ? -1 : 0;
}
CASE(granted_read_by_link) { return reads(in_place("out")); }
CASE(granted_read_link_to_passwd) { return reads(in_place("passwd")); }
CASE(granted_read_root_of_process) { return reads("/proc/self/root/etc/passwd"); }
CASE(granted_read_host_by_proc) { return reads("/proc/1/environ"); }
CASE(granted_write_beside) { return open(at("own.txt"), O_WRONLY); }
CASE(granted_make_beside) { return open(at("new"), O_WRONLY | O_CREAT, 0644); }
CALL(granted_make_folder_beside, SYS_mkdir, at("new"), 0755)
CALL(granted_remove_beside, SYS_unlink, at("own.txt"))
CALL(granted_empty_beside, SYS_truncate, at("own.txt"), 0)
CALL(granted_mode_beside, SYS_chmod, at("own.txt"), 0777)
CALL(granted_time_beside, SYS_utimensat, AT_FDCWD, at("own.txt"), NULL, 0)
CALL(granted_list_beside, SYS_openat, AT_FDCWD, folder, O_RDONLY | O_DIRECTORY)

/* Out of the place and into it. */
CASE(granted_rename_out) {
  close(make("moving"));
  return rename(in_place("moving"), at("new"));
}
CASE(granted_rename_in) { return rename(at("own.txt"), in_place("stolen")); }
CASE(granted_exchange) {
  close(make("moving"));
  return syscall(SYS_renameat2, AT_FDCWD, in_place("moving"), AT_FDCWD, at("own.txt"), 2);
}
CASE(granted_exchange_within) {
  close(make("moving"));
  close(make("other"));
  return syscall(SYS_renameat2, AT_FDCWD, in_place("moving"), AT_FDCWD, in_place("other"), 2);
}
/* Leaves a device where the file was. */
CASE(granted_leave_whiteout) {
  close(make("moving"));
  return syscall(SYS_renameat2, AT_FDCWD, in_place("moving"), AT_FDCWD, in_place("moved"), 4);
}
CASE(granted_write_by_link) { return open(in_place("out"), O_WRONLY); }

/* Links and special files. */
CASE(granted_link_in) { return link(at("secret.txt"), in_place("stolen")); }
CASE(granted_link_out) {
  close(make("linked"));
  return link(in_place("linked"), at("new"));
}
CASE(granted_link_within) {
  close(make("linked"));
  unlink(in_place("again"));
  return link(in_place("linked"), in_place("again"));
}
CASE(granted_link_symbolic) {
  unlink(in_place("pointing"));
  return symlink("/etc/passwd", in_place("pointing"));
}
CASE(granted_link_without_name) {
  int fd = open(word, O_TMPFILE | O_RDWR, 0600);
  if (fd < 0) return -1;
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  unlink(in_place("named"));
  return linkat(AT_FDCWD, name, AT_FDCWD, in_place("named"), AT_SYMLINK_FOLLOW);
}
CASE(granted_make_fifo) {
  unlink(in_place("fifo"));
  return mknod(in_place("fifo"), S_IFIFO | 0644, 0);
}
CASE(granted_make_device) {
  unlink(in_place("device"));
  return mknod(in_place("device"), S_IFCHR | 0666, 0x103);
}
CASE(granted_read_device) { return reads(in_place("null")); }

/* Rights and marks of files. */
CASE(granted_make_setuid) {
  unlink(in_place("powerful"));
  return open(in_place("powerful"), O_WRONLY | O_CREAT | O_EXCL, 04755);
}
CASE(granted_set_setuid) {
  close(make("powerful"));
  return chmod(in_place("powerful"), 04755);
}
CASE(granted_set_setgid_of_folder) {
  mkdir(in_place("shared"), 0755);
  return chmod(in_place("shared"), 02755);
}
CASE(granted_set_owner) {
  close(make("given-away"));
  return chown(in_place("given-away"), 12345, 12345);
}
CASE(granted_set_attribute) { return fsetxattr(make("marked"), "user.x", "y", 1, 0); }
CASE(granted_set_capability) {
  unsigned powers[5] = {0x02000000 | 1, 0xffffffff, 0, 0xffffffff, 0};
  close(make("marked"));
  return setxattr(in_place("marked"), "security.capability", powers, sizeof powers, 0);
}
CASE(granted_run) {
  int fd = make("program");
  const char text[] = "#!/bin/sh\n";
  if (write(fd, text, sizeof text - 1) < 0) return -1;
  fchmod(fd, 0755);
  close(fd);
  char* words[] = {"program", NULL};
  char* nothing[] = {NULL};
  return execve(in_place("program"), words, nothing);
}
CASE(granted_map_to_run) {
  int fd = make("code");
  if (write(fd, "\303", 1) != 1) return -1;
  return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED ? -1 : 0;
}

/* Copies: a file into a file, and into no stream or channel, however its number is written. */
CASE(granted_copy) {
  int from = make("from");
  if (write(from, "text", 4) != 4) _exit(21);
  off_t start = 0;
  int to = make("to");
  if (sendfile(to, from, &start, 4) != 4) return -1;
  char text[8] = {0};
  return pread(to, text, sizeof text, 0) == 4 && memcmp(text, "text", 4) == 0 ? 0 : -1;
}
CASE(granted_copy_to_stream) {
  int from = make("from");
  off_t start = 0;
  return syscall(SYS_sendfile, 1L | 1L << 32U, from, &start, 4);
}
CALL(granted_copy_to_channel, SYS_sendfile, 3, make("from"), NULL, 4)

/* More than its share. */
CASE(granted_flood_file) {
  return fallocate(make("large"), 0, 0, 512L << 20U);
}
/* Takes the room and no size, which a limit of sizes does not see. */
CASE(granted_flood_beyond_end) {
  return fallocate(make("large"), FALLOC_FL_KEEP_SIZE, 0, 16L << 20U);
}
CASE(granted_reserve) { return fallocate(make("small"), 0, 0, 4096); }
CASE(granted_sparse_file) {
  int fd = make("sparse");
  return pwrite(fd, "x", 1, 512L << 20U) == 1 ? 0 : -1;
}
CASE(granted_grow_file) { return ftruncate(make("sparse"), 512L << 20U); }
CASE(granted_share_memory_of_file) {
  int fd = make("mapped");
  if (ftruncate(fd, 4096) != 0) _exit(21);
  return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0;
}
/* Folders in folders, deeper than any name: made and removed again. */
CASE(granted_depth_bomb) {
  enum { kDeep = 3000 };
  int at_depth = open(word, O_RDONLY | O_DIRECTORY);
  for (int i = 0; i < kDeep; ++i) {
    if (mkdirat(at_depth, "d", 0700) != 0) return -1;
    int next = openat(at_depth, "d", O_RDONLY | O_DIRECTORY);
    close(at_depth);
    if (next < 0) return -1;
    at_depth = next;
  }
  for (int i = 0; i < kDeep; ++i) {
    int up = openat(at_depth, "..", O_RDONLY | O_DIRECTORY);
    if (up < 0 || unlinkat(up, "d", AT_REMOVEDIR) != 0) return -1;
    close(at_depth);
    at_depth = up;
  }
  return 0;
}

/* Waiting and watching. */
CASE(granted_lock) { return flock(make("locked"), LOCK_EX); }
CASE(granted_lock_range) {
  struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(make("locked"), F_SETLK, &range);
}
CASE(granted_lease) { return fcntl(make("leased"), F_SETLEASE, F_WRLCK); }
CASE(granted_notify_folder) { return fcntl(open(word, O_RDONLY | O_DIRECTORY), F_NOTIFY, 4); }
CALL(granted_watch, SYS_inotify_add_watch, syscall(SYS_inotify_init1, 0), word, 0xfff)

/* In a place that may be read only. */
CASE(granted_write_given) { return open(in_place("given.txt"), O_WRONLY); }
CASE(granted_append_given) { return open(in_place("given.txt"), O_WRONLY | O_APPEND); }
CASE(granted_empty_given) { return open(in_place("given.txt"), O_RDONLY | O_TRUNC); }
CASE(granted_make) { return open(in_place("new"), O_WRONLY | O_CREAT, 0600); }
CALL(granted_make_folder, SYS_mkdir, in_place("new"), 0755)
CALL(granted_remove_given, SYS_unlink, in_place("given.txt"))
CALL(granted_rename_given, SYS_rename, in_place("given.txt"), in_place("other"))
CALL(granted_mode_given, SYS_chmod, in_place("given.txt"), 0777)
CALL(granted_time_given, SYS_utimensat, AT_FDCWD, in_place("given.txt"), NULL, 0)
CALL(granted_truncate_given, SYS_truncate, in_place("given.txt"), 0)
CASE(granted_write_read_only) {
  int fd = open(in_place("given.txt"), O_RDONLY);
  return fd < 0 ? -1 : write(fd, "x", 1);
}
