// SPDX-License-Identifier: Apache-2.0

#include "sandbox/call_names.h"

#include <seccomp.h>

#include <cstdlib>
#include <memory>

namespace mcpac::sandbox {
namespace {

struct PathArgument {
  int call;
  unsigned argument;
};

// Of the calls that end a process. Those that libseccomp 2.5 has no name for stand as numbers.
constexpr PathArgument kPaths[] = {{SCMP_SYS(execve), 0},
                                   {SCMP_SYS(execveat), 1},
                                   {SCMP_SYS(chroot), 0},
                                   {SCMP_SYS(mount), 1},
                                   {SCMP_SYS(umount2), 0},
                                   {SCMP_SYS(pivot_root), 0},
                                   {SCMP_SYS(swapon), 0},
                                   {SCMP_SYS(swapoff), 0},
                                   {SCMP_SYS(acct), 0},
                                   {SCMP_SYS(quotactl), 1},
                                   {SCMP_SYS(setxattr), 0},
                                   {SCMP_SYS(lsetxattr), 0},
                                   {SCMP_SYS(getxattr), 0},
                                   {SCMP_SYS(lgetxattr), 0},
                                   {SCMP_SYS(listxattr), 0},
                                   {SCMP_SYS(llistxattr), 0},
                                   {SCMP_SYS(removexattr), 0},
                                   {SCMP_SYS(lremovexattr), 0},
                                   {SCMP_SYS(inotify_add_watch), 1},
                                   {SCMP_SYS(name_to_handle_at), 1},
                                   {428 /* open_tree */, 1},
                                   {429 /* move_mount */, 1},
                                   {433 /* fspick */, 1},
                                   {442 /* mount_setattr */, 1},
                                   {452 /* fchmodat2 */, 1}};

struct Free {
  void operator()(char* text) const { std::free(text); }
};

}  // namespace

std::string name_of_call(int call) {
  if (call < 0) return {};
  const std::unique_ptr<char, Free> name(
      ::seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, call));
  return name ? std::string(name.get()) : std::string();
}

std::optional<unsigned> path_argument_of(int call) {
  for (const PathArgument& path : kPaths) {
    if (path.call == call) return path.argument;
  }
  return std::nullopt;
}

}  // namespace mcpac::sandbox
