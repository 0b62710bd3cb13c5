/* Descriptors: what was left open, copies, folders, and handing them on. */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "cases.h"

CASE(leaked_descriptors) {
  char text[32];
  for (int fd = 0; fd < 70000; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) continue;
    snprintf(text, sizeof text, "%d ", fd);
    say(text);
  }
  return 0;
}
CALL(leaked_status, SYS_fstat, kLeaked, &(struct stat){0})
/* From every folder that may be open, up and out. */
CASE(leaked_folder) {
  for (int fd = 0; fd < 2048; ++fd) {
    int file = openat(fd, "secret.txt", O_RDONLY);
    if (file >= 0) return file;
  }
  return openat(kChannel, "../../../../../../etc/passwd", O_RDONLY);
}
CASE(leaked_folder_enter) {
  long result = -1;
  for (int fd = 0; fd < 2048 && result < 0; ++fd) result = syscall(SYS_fchdir, fd);
  return result;
}
CASE(list_channel) {
  char entries[4096];
  long result = -1;
  for (int fd = 0; fd < 128 && result < 0; ++fd)
    result = syscall(SYS_getdents64, fd, entries, sizeof entries);
  return result;
}

CALL(copy_dup, SYS_dup, kChannel)
CALL(copy_dup2, SYS_dup2, kChannel, 40)
CALL(copy_dup3, SYS_dup3, kChannel, 40, 0)
CALL(copy_fcntl, SYS_fcntl, kChannel, F_DUPFD, 40)
CALL(copy_fcntl_closing, SYS_fcntl, kChannel, F_DUPFD_CLOEXEC, 40)
CALL(close_many, SYS_close_range, 100, 200, 0)
CALL(steal_from_host, SYS_pidfd_getfd, syscall(SYS_pidfd_open, host, 0), 1, 0)

/* Who is told when a descriptor is ready. */
CALL(owner_set, SYS_fcntl, kChannel, F_SETOWN, getpid())
CALL(owner_get, SYS_fcntl, kChannel, F_GETOWN)
CALL(owner_signal, SYS_fcntl, kChannel, F_SETSIG, SIGKILL)
CALL(lock_record, SYS_fcntl, 1, F_GETLK, &(struct flock){.l_type = F_WRLCK})
CALL(lock_file, SYS_flock, open(at("own.txt"), O_RDONLY), 2)
CALL(lease, SYS_fcntl, open(at("own.txt"), O_RDONLY), F_SETLEASE, F_RDLCK)
CALL(notify, SYS_fcntl, open(folder, O_RDONLY), F_NOTIFY, 1)
CALL(pipe_grow, SYS_fcntl, 1, F_SETPIPE_SZ, 1 << 20)
CALL(pipe_size, SYS_fcntl, 1, F_GETPIPE_SZ)

/* Handing descriptors on. */
static struct msghdr message_with(char* byte, struct iovec* part, char* control, size_t size) {
  *part = (struct iovec){byte, 1};
  return (struct msghdr){
      .msg_iov = part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = size};
}
CASE(pass_out) {
  char byte = 'x', control[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec part;
  struct msghdr message = message_with(&byte, &part, control, sizeof control);
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memset(CMSG_DATA(header), 0, sizeof(int)); /* descriptor 0 */
  return sendmsg(kChannel, &message, 0);
}
CASE(pass_out_many) {
  char byte = 'x';
  struct iovec part = {&byte, 1};
  struct mmsghdr message = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};
  return syscall(SYS_sendmmsg, kChannel, &message, 1, 0);
}
CASE(take_in) {
  char byte, control[64];
  struct iovec part;
  struct msghdr message = message_with(&byte, &part, control, sizeof control);
  return looked_at(recvmsg(kChannel, &message, MSG_DONTWAIT), EAGAIN);
}
CASE(take_in_many) {
  char byte;
  struct iovec part = {&byte, 1};
  struct mmsghdr message = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};
  return looked_at(syscall(SYS_recvmmsg, kChannel, &message, 1, MSG_DONTWAIT, NULL), EAGAIN);
}

/* New kinds of descriptors, each a way to more of the kernel. */
static int pair[2];
CALL(new_pipe, SYS_pipe, pair)
CALL(new_pipe2, SYS_pipe2, pair, 0)
CALL(new_event, SYS_eventfd2, 0, 0)
CALL(new_epoll, SYS_epoll_create1, 0)
CALL(new_timer, SYS_timerfd_create, 1, 0)
CALL(new_signal, SYS_signalfd4, -1, &(sigset_t){0}, 8, 0)
CALL(new_memory_file, SYS_memfd_create, "x", 0)
CALL(new_secret_memory, SYS_memfd_secret, 0)
CALL(new_fault_handler, SYS_userfaultfd, 1 /* user mode only */)

/* Moving bytes past read and write. */
CALL(move_sendfile, SYS_sendfile, 1, open("/etc/passwd", O_RDONLY), NULL, 1)
CALL(move_splice, SYS_splice, open("/etc/passwd", O_RDONLY), NULL, 1, NULL, 1, 0)
NONSENSE(move_tee, EINVAL, SYS_tee, 0, 1, 1, 2 /* non-blocking */)
CASE(move_memory) {
  struct iovec part = {"x", 1};
  return syscall(SYS_vmsplice, 1, &part, 1, 0);
}
CALL(move_range, SYS_copy_file_range, open(at("secret.txt"), O_RDONLY), NULL,
     open(at("own.txt"), O_WRONLY), NULL, 1, 0)
CALL(move_pread, SYS_pread64, open("/etc/passwd", O_RDONLY), (char[8]){0}, 8, 0)
CALL(move_pwrite, SYS_pwrite64, open(at("own.txt"), O_WRONLY), "x", 1, 0)
CASE(move_preadv2) {
  char text[8];
  struct iovec part = {text, sizeof text};
  return syscall(SYS_preadv2, open("/etc/passwd", O_RDONLY), &part, 1, 0, 0, 0);
}
CALL(sync_file, SYS_fsync, open(at("own.txt"), O_WRONLY))
