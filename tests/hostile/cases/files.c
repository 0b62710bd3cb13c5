/* Files: read, probe, list, write, link, and the ways around names. */
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <utime.h>

#include "cases.h"

static long show(const char* path) {
  char text[256];
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return -1;
  ssize_t size = read(fd, text, sizeof text - 1);
  if (size < 0) return -1;
  text[size] = 0;
  close(fd);
  return 0;
}
static long overwrite(const char* path, const char* text) {
  int fd = open(path, O_WRONLY);
  if (fd < 0) return -1;
  return write(fd, text, strlen(text));
}

/* Reading. */
CASE(read_passwd) { return show("/etc/passwd"); }
CASE(read_secret) { return show(at("secret.txt")); }
CASE(read_through_link) { return show(at("link")); }
CASE(read_with_dots) { return show(at("folder/../secret.txt")); }
CASE(read_null_device) { return show("/dev/null"); }
CASE(read_random_device) { return show("/dev/urandom"); }
CASE(read_environment_file) { return show("/proc/self/environ"); }
CASE(read_kernel_file) { return show("/sys/kernel/notes"); }
CALL(open_root, SYS_open, "/", O_RDONLY | O_DIRECTORY)
CALL(open_here, SYS_openat, AT_FDCWD, ".", O_RDONLY | O_DIRECTORY)
CALL(open_path_only, SYS_openat, AT_FDCWD, "/", O_PATH)
CASE(open_by_openat2) {
  struct open_how how = {.flags = O_RDONLY};
  return syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", &how, sizeof how);
}
CASE(list_root) {
  char entries[4096];
  int fd = open("/", O_RDONLY | O_DIRECTORY);
  return fd < 0 ? -1 : syscall(SYS_getdents64, fd, entries, sizeof entries);
}

/* Probing: is it there? */
CASE(probe_stat) {
  struct stat s;
  return syscall(SYS_stat, at("secret.txt"), &s);
}
CASE(probe_lstat) {
  struct stat s;
  return syscall(SYS_lstat, at("secret.txt"), &s);
}
CASE(probe_newfstatat) {
  struct stat s;
  return syscall(SYS_newfstatat, AT_FDCWD, at("secret.txt"), &s, 0);
}
CASE(probe_statx) {
  struct statx s;
  return syscall(SYS_statx, AT_FDCWD, at("secret.txt"), 0, STATX_BASIC_STATS, &s);
}
CALL(probe_access, SYS_access, at("secret.txt"), F_OK)
CALL(probe_faccessat, SYS_faccessat, AT_FDCWD, at("secret.txt"), F_OK)
CALL(probe_faccessat2, SYS_faccessat2, AT_FDCWD, at("secret.txt"), F_OK, 0)
CASE(probe_readlink) {
  char text[64];
  return syscall(SYS_readlink, at("link"), text, sizeof text);
}
CASE(probe_readlinkat) {
  char text[64];
  return syscall(SYS_readlinkat, AT_FDCWD, at("link"), text, sizeof text);
}
CASE(probe_statfs) {
  struct statfs s;
  return syscall(SYS_statfs, "/", &s);
}
CASE(probe_fstatfs) {
  struct statfs s;
  return syscall(SYS_fstatfs, 1, &s);
}
CASE(probe_working_folder) {
  char text[4096];
  return syscall(SYS_getcwd, text, sizeof text);
}
CASE(probe_attribute) {
  char text[64];
  return looked_at(syscall(SYS_getxattr, at("secret.txt"), "user.none", text, sizeof text), ENODATA);
}
CASE(probe_attributes) {
  char text[64];
  return syscall(SYS_listxattr, at("secret.txt"), text, sizeof text);
}
CALL(watch_begin, SYS_inotify_init1, 0)
CALL(watch_add, SYS_inotify_add_watch, syscall(SYS_inotify_init1, 0), folder, 0xfff)
CALL(watch_whole_system, SYS_fanotify_init, 0, 0)

/* Writing. */
CALL(create_by_open, SYS_open, at("new"), O_WRONLY | O_CREAT | O_EXCL, 0644)
CALL(create_by_openat, SYS_openat, AT_FDCWD, at("new"), O_WRONLY | O_CREAT | O_EXCL, 0644)
CALL(create_by_creat, SYS_creat, at("new"), 0644)
CALL(create_setuid, SYS_open, at("new"), O_WRONLY | O_CREAT | O_EXCL, 04755)
CALL(create_without_name, SYS_openat, AT_FDCWD, folder, O_TMPFILE | O_RDWR, 0600)
CASE(append) {
  int fd = open(at("own.txt"), O_WRONLY | O_APPEND);
  return fd < 0 ? -1 : write(fd, "x", 1);
}
CASE(overwrite_own) { return overwrite(at("own.txt"), "spoiled"); }
CALL(truncate_by_open, SYS_open, at("own.txt"), O_WRONLY | O_TRUNC)
CALL(truncate_by_name, SYS_truncate, at("own.txt"), 0)
CALL(truncate_output, SYS_ftruncate, open(at("own.txt"), O_WRONLY), 0)
CALL(grow_by_fallocate, SYS_fallocate, open(at("own.txt"), O_WRONLY), 0, 0, 4096)
CALL(make_folder, SYS_mkdir, at("new"), 0755)
CALL(make_folder_at, SYS_mkdirat, AT_FDCWD, at("new"), 0755)
CALL(remove_folder, SYS_rmdir, at("folder"))
CALL(remove_file, SYS_unlink, at("own.txt"))
CALL(remove_file_at, SYS_unlinkat, AT_FDCWD, at("own.txt"), 0)
CALL(rename_file, SYS_rename, at("own.txt"), at("new"))
CALL(rename_file_at, SYS_renameat, AT_FDCWD, at("own.txt"), AT_FDCWD, at("new"))
CALL(exchange_files, SYS_renameat2, AT_FDCWD, at("own.txt"), AT_FDCWD, at("secret.txt"), 2)
CALL(change_mode, SYS_chmod, at("own.txt"), 0777)
CALL(change_mode_of_open, SYS_fchmod, open(at("own.txt"), O_RDONLY), 0777)
CALL(change_mode_at, SYS_fchmodat, AT_FDCWD, at("own.txt"), 0777)
CALL(change_mode_at2, 452 /* fchmodat2 */, AT_FDCWD, at("own.txt"), 0777, 0)
CALL(change_owner, SYS_chown, at("own.txt"), getuid(), -1)
CALL(change_owner_of_link, SYS_lchown, at("link"), getuid(), -1)
CALL(change_owner_at, SYS_fchownat, AT_FDCWD, at("own.txt"), getuid(), -1, 0)
CALL(change_owner_of_output, SYS_fchown, 1, -1, -1)
CALL(change_time, SYS_utimensat, AT_FDCWD, at("own.txt"), NULL, 0)
CALL(change_time_old, SYS_utime, at("own.txt"), NULL)
CALL(change_times_old, SYS_utimes, at("own.txt"), NULL)
CALL(change_attribute, SYS_setxattr, at("own.txt"), "user.x", "y", 1, 0)
CALL(change_attribute_of_open, SYS_fsetxattr, open(at("own.txt"), O_RDONLY), "user.x", "y", 1, 0)
CALL(change_mask, SYS_umask, 0)
CALL(change_folder, SYS_chdir, folder)
CALL(write_back_everything, SYS_sync)

/* Links and special files. */
CALL(link_hard, SYS_link, at("secret.txt"), at("new"))
CALL(link_hard_at, SYS_linkat, AT_FDCWD, at("secret.txt"), AT_FDCWD, at("new"), 0)
CALL(link_symbolic, SYS_symlink, "/etc/passwd", at("new"))
CALL(link_symbolic_at, SYS_symlinkat, "/etc/passwd", AT_FDCWD, at("new"))
CASE(link_open_file) {
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", open(at("secret.txt"), O_RDONLY));
  return syscall(SYS_linkat, AT_FDCWD, name, AT_FDCWD, at("new"), AT_SYMLINK_FOLLOW);
}
CALL(make_fifo, SYS_mknod, at("new"), S_IFIFO | 0644, 0)
CALL(make_fifo_at, SYS_mknodat, AT_FDCWD, at("new"), S_IFIFO | 0644, 0)
CALL(make_device, SYS_mknod, at("new"), S_IFCHR | 0666, 0x103)
CALL(make_block_device, SYS_mknod, at("new"), S_IFBLK | 0666, 0x700)

/* Handles: a file by number, past every folder. */
CASE(handle_take) {
  char room[256] = {0};
  int mount;
  *(unsigned*)room = 128;
  return syscall(SYS_name_to_handle_at, AT_FDCWD, folder, room, &mount, 0);
}
CASE(handle_open) {
  char room[256] = {0};
  int mount;
  *(unsigned*)room = 128;
  /* The root folder of most file systems has number 2: no name needed. */
  if (syscall(SYS_name_to_handle_at, AT_FDCWD, folder, room, &mount, 0) != 0) return -1;
  return syscall(SYS_open_by_handle_at, open(folder, O_RDONLY), room, O_RDONLY);
}
CASE(handle_guess) {
  struct {
    unsigned size;
    int type;
    unsigned inode, generation;
  } guess = {8, 1, 2, 0};
  return syscall(SYS_open_by_handle_at, AT_FDCWD, &guess, O_RDONLY);
}

/* The kernel's own folders. */
CASE(proc_own_memory) { return open("/proc/self/mem", O_RDWR); }
CASE(proc_own_root) { return show("/proc/self/root/etc/passwd"); }
CASE(proc_own_folder) { return open("/proc/self/cwd", O_RDONLY | O_DIRECTORY); }
CASE(proc_own_program) { return open("/proc/self/exe", O_RDONLY); }
CASE(proc_own_descriptor) { return open("/proc/self/fd/1", O_RDONLY | O_NONBLOCK); }
CASE(proc_thread_descriptors) { return open("/proc/thread-self/fd", O_RDONLY | O_DIRECTORY); }
CASE(proc_id_map) { return show("/proc/self/uid_map"); }
CASE(proc_oom) { return overwrite("/proc/self/oom_score_adj", "0"); }
CASE(proc_mounts) { return show("/proc/self/mountinfo"); }
CASE(proc_host_environment) { return show(of_host("environ")); }
CASE(proc_host_memory) { return open(of_host("mem"), O_RDONLY); }
CASE(proc_host_folder) { return open(of_host("cwd"), O_RDONLY | O_DIRECTORY); }
CASE(proc_host_root) { return open(of_host("root"), O_RDONLY | O_DIRECTORY); }
CASE(proc_host_descriptors) { return open(of_host("fd"), O_RDONLY | O_DIRECTORY); }
CASE(proc_host_namespace) { return open(of_host("ns/mnt"), O_RDONLY); }
CASE(proc_settings) { return open("/proc/sys/kernel/hostname", O_WRONLY); }
CASE(proc_core_pattern) { return open("/proc/sys/kernel/core_pattern", O_WRONLY); }
CASE(proc_drop_caches) { return open("/proc/sys/vm/drop_caches", O_WRONLY); }
