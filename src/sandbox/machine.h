// Machine: what this machine gives, found by building real sandboxes that start nothing.
//
// Never from a sysctl, a version or a file in /sys: containers, security modules and other kernels
// answer those questions differently from what they then do.
#pragma once

#include <optional>

#include "sandbox/launch.h"
#include "sandbox/plan.h"
#include "sandbox/sandbox.h"

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
// The same in detail, for people.
[[nodiscard]] Probe describe_machine(const Machine& machine);

// Ids of its own for every child of a root warden: RLIMIT_NPROC counts by id, and nobody else has
// them.
inline constexpr uid_t kFirstOwnId = 90000;

}  // namespace mcpac::sandbox
