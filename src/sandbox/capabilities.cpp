// SPDX-License-Identifier: Apache-2.0

#include "sandbox/capabilities.h"

#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace mcpac::sandbox {
namespace {

// EPERM means that we have no CAP_SETPCAP: an ordinary user without a namespace of its own, for
// whom no_new_privs already keeps the bounding set from ever being used.
int empty_bounding_set() {
  for (unsigned long capability = 0; capability < 64; ++capability) {
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0) continue;
    if (errno == EINVAL || errno == EPERM) break;
    return errno;
  }
  constexpr unsigned long kNoRootPowers =
      SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED |
      SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  if (::prctl(PR_SET_SECUREBITS, kNoRootPowers, 0, 0, 0) != 0 && errno != EPERM) return errno;
  return 0;
}

// The raw calls: glibc's change the ids of all threads, and this child shares the warden's memory.
int take_own_ids(uid_t user) {
  if (::syscall(SYS_setgroups, 0, nullptr) != 0) return errno;
  if (::syscall(SYS_setresgid, user, user, user) != 0) return errno;
  if (::syscall(SYS_setresuid, user, user, user) != 0) return errno;
  return 0;
}

int drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2]{};
  return ::syscall(SYS_capset, &header, none) == 0 ? 0 : errno;
}

}  // namespace

int drop_privileges(const Plan& plan) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  if (const int error = empty_bounding_set()) return error;
  if (plan.identity == Identity::kOwnId) {
    if (const int error = take_own_ids(plan.user)) return error;
  }
  return drop_capabilities();
}

// Changing this id takes the powers over files away, unless told otherwise.
int make_files_as(uid_t user) {
  if (::prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0) != 0) return errno;
  ::syscall(SYS_setfsgid, user);
  ::syscall(SYS_setfsuid, user);
  return 0;
}

int make_files_as_before() {
  ::syscall(SYS_setfsuid, ::geteuid());
  ::syscall(SYS_setfsgid, ::getegid());
  return ::prctl(PR_SET_SECUREBITS, 0, 0, 0, 0) == 0 ? 0 : errno;
}

}  // namespace mcpac::sandbox
