// SPDX-License-Identifier: Apache-2.0

// Machine: sandbox features of this machine, found by building real sandboxes that start nothing.
//
// Never from a sysctl, a version or a file in /sys: containers, security modules and other kernels
// answer those questions differently from what they then do.
#pragma once

#include <optional>

#include "sandbox/cgroups.h"
#include "sandbox/plan.h"
#include "sandbox/sandbox.h"
#include "sandbox/step.h"

namespace mcpac::sandbox {

struct Machine {
  bool namespaces = false;              // with a root of their own
  Identity identity = Identity::kKeep;  // inside them, or without them
  int landlock_abi = 0;                 // 0: cannot be used
  bool filter = false;
  bool listener = false;      // calls that end a child can be named
  Failure namespaces_failed;  // why, where they do not work
  int landlock_error = 0;
  int filter_error = 0;
  int listener_error = 0;

  // The tier that a sandbox with everything this machine gives deserves.
  [[nodiscard]] std::optional<Tier> tier() const;
};

// A few short-lived children; once a warden.
[[nodiscard]] Machine explore_machine();
// Tier A, presumed and not tried out: for a sandbox that is built of it at once, each of whose
// layers says for itself whether it stands. A failure there is the time to explore. Nothing where
// it is known that this machine has no tier A.
[[nodiscard]] std::optional<Machine> presumed_machine();
// The same in detail, for people.
[[nodiscard]] Probe describe_machine(const Machine& machine, const cgroup::Groups& groups);

// Ids of its own for every child of a root warden, as RLIMIT_NPROC counts by id: from 90000 on, and
// below 100000, where the ids begin that are handed to users. Nothing reserves them. Wardens that
// run at the same time begin at different ones, so that they hardly ever count each other's
// children; where two meet after all, the limit of both is the stricter for it.
inline constexpr uid_t kFirstOwnId = 90000;
inline constexpr uid_t kLastOwnId = 99999;

// The first of a warden's ids; at least 255 follow it. Neighbouring processes are 61 apart.
[[nodiscard]] constexpr uid_t own_ids_of(pid_t warden) {
  constexpr uid_t kBeginnings = kLastOwnId - kFirstOwnId + 1 - 256;
  return kFirstOwnId + static_cast<uid_t>(warden) % kBeginnings * 61U % kBeginnings;
}

}  // namespace mcpac::sandbox
