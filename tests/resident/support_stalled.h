// A folder on a FUSE file system whose server never answers what is asked about files.
#pragma once

#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace resident_test {

// It says that it is there and that it checks no permissions; all else waits for ever.
[[noreturn]] inline void serve_stalled(int device, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);  // it died before that was said
  struct {
    fuse_out_header head{};
    fuse_init_out init{};
  } reply;
  std::array<char, 1U << 17U> request{};
  for (;;) {
    const ssize_t size = ::read(device, request.data(), request.size());
    fuse_in_header head{};
    if (size < static_cast<ssize_t>(sizeof head)) ::_exit(0);
    std::memcpy(&head, request.data(), sizeof head);
    const bool starts = head.opcode == FUSE_INIT;
    if (!starts && head.opcode != FUSE_ACCESS) continue;
    reply.init.major = FUSE_KERNEL_VERSION;
    reply.init.minor = FUSE_KERNEL_MINOR_VERSION;
    reply.init.max_write = 4096;
    reply.head = {.len = static_cast<std::uint32_t>(starts ? sizeof reply : sizeof reply.head),
                  .error = starts ? 0 : -ENOSYS,
                  .unique = head.unique};
    if (::write(device, &reply, reply.head.len) < 0) ::_exit(1);
  }
}

// Over /mnt, in a mount namespace of this process. False: not possible here.
inline bool mount_stalled() {
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return false;
  const int device = ::open("/dev/fuse", O_RDWR | O_CLOEXEC);
  const std::string options =
      "fd=" + std::to_string(device) + ",rootmode=40000,user_id=0,group_id=0";
  if (device < 0 || ::mount("stalled", "/mnt", "fuse", 0, options.c_str()) != 0) return false;
  const pid_t parent = ::getpid();
  const pid_t server = ::fork();
  if (server == 0) serve_stalled(device, parent);
  ::close(device);
  return server > 0;
}

}  // namespace resident_test
