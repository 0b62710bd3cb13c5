// SPDX-License-Identifier: Apache-2.0

// Running: a child that the warden has started, up to its end.
#pragma once

#include <sys/types.h>

#include <optional>

#include "core/file.h"
#include "sandbox/cgroup_leaf.h"
#include "sandbox/end_report.h"
#include "sandbox/held_memory.h"
#include "sandbox/name_guard.h"
#include "sandbox/watch.h"

namespace mcpac::sandbox {

struct Running {
  pid_t pid = -1;
  UniqueFd process;
  UniqueFd report;
  UniqueFd listener;                 // of its filter; open as long as the child may run
  bool guard_ended = false;          // and took it with it
  std::optional<NameGuard> guard{};  // receives what the listener is told, where there is one
  uid_t own_id = 0;
  std::uint64_t stack_bytes = 0;
  std::uint64_t most_processes = 0;  // threads included
  bool looks_at_threads = false;     // nothing else counts them (held_memory.h)
  std::uint64_t most_memory = 0;     // 0: not looked at (held_memory.h)
  FilesInMemory files_in_memory = FilesInMemory::kCount;
  bool has_others = false;         // which hold memory with it, and no group counts them
  bool ends_by_request = false;    // Plan::ends_by_request()
  std::uint64_t held_memory = 0;   // for which it was ended
  std::uint64_t held_threads = 0;  // the same
  std::optional<cgroup::Leaf> group{};
  Watch watch{};
  Violation violation{};
  KeptNames kept{};
};

// Takes what wait(2) says of it: its end, which is reported, or with WNOHANG in `flags` also what
// it stands still for. After its end `pid` is -1.
void reap(Running& child, int flags);

}  // namespace mcpac::sandbox
