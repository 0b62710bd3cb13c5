// A folder on a FUSE file system whose server never answers what is asked about files.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signal.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "support_fuse.h"

namespace resident_test {

// It says that it is there and that it checks no permissions; all else waits for ever.
class StalledFolder : public mcpac::testing::FuseServer {
 public:
  using FuseServer::FuseServer;

 private:
  void answer(const fuse_in_header& head, const char*) override {
    if (head.opcode == FUSE_ACCESS) refuse(head, ENOSYS);
  }
};

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
  if (server == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);  // it died before that was said
    StalledFolder(device).serve();
    ::_exit(0);
  }
  ::close(device);
  return server > 0;
}

}  // namespace resident_test
