// SPDX-License-Identifier: Apache-2.0

// Namespaces: flags for clone, and what a child in new ones has to do first.
#pragma once

#include <sys/types.h>

#include <span>

#include "core/file.h"
#include "sandbox/plan.h"

namespace mcpac::sandbox {

// Mount, network, pid, ipc, uts and cgroup; the user namespace is a question of identity.
[[nodiscard]] int all_namespaces();

// In the child of a user namespace: maps 65534 inside to the ids outside. 0 or errno.
[[nodiscard]] int map_ids(uid_t outer_user, gid_t outer_group);

// In the child of a user namespace, with its powers: what may watch files there. The kernel counts
// watches by the user of the machine, whose programs would get none where one has all. Where
// /proc/sys cannot be written there is no such bound.
void bound_watches();

// In the child of a uts namespace: a name that says nothing. 0 or errno.
[[nodiscard]] int hide_host_name();

// In the child of a network namespace: lets it talk to itself, by its loopback device. 0 or errno.
[[nodiscard]] int raise_loopback();

// In the child of a network namespace whose loopback device is up, while it has the powers over
// that namespace: makes every address of both families one of its own, by a local route on that
// device. 0 or errno; that there is no IPv6 is no error.
[[nodiscard]] int own_every_address();

// There, too: binds these sockets; they become descriptors `first` and those after it,
// close-on-exec. 0 or errno.
[[nodiscard]] int bind_listens(std::span<const Listen> listens, int first);

// In a root warden: a user namespace for id-mapped mounts, in which root's files appear as
// `user`'s. No descriptor when the kernel refuses. The process that it was made with is killed, and
// not waited for: on a busy machine that takes a turn of the scheduler.
struct IdMap {
  UniqueFd map;
  pid_t ended = -1;  // for the caller's waitpid(2); -1: none
};
[[nodiscard]] IdMap make_id_map(uid_t user);

}  // namespace mcpac::sandbox
