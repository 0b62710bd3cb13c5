// SPDX-License-Identifier: Apache-2.0

// The group below which children get control groups of their own, where that was left to us.
//
// Found anew on each use, from where the process is: the group above its own, if no process is in
// it, it passes the controllers for memory and processes on, and our own has no limits that
// children beside it would escape; or the root of a machine without systemd, if that passes them
// on. Nothing is changed for that. A host that is alone in a group brings this about
// (cgroup_adopt.h). A group that systemd manages is used only where systemd says that it does not
// (Delegate=), as it would take our changes back.
#pragma once

#include <expected>
#include <string>

#include "core/file.h"

namespace mcpac::sandbox::cgroup {

// Why there is none, and how there would be one: for people.
struct None {
  std::string why;
  std::string remedy;
};

struct Base {
  UniqueFd folder;
  std::string path;  // "/sys/fs/cgroup/…", for people
};
[[nodiscard]] std::expected<Base, None> find_base();
// Whether it still passes the controllers on.
[[nodiscard]] bool passes_on(int group);

// The group that this process is in.
struct Own {
  std::string mount;  // where cgroup2 is mounted
  std::string path;   // below it; "" is the highest group that can be seen from here
  UniqueFd folder;
};
[[nodiscard]] std::expected<Own, None> find_own();
// Whether the group `name` is ours to change, if its files can be written.
[[nodiscard]] bool is_delegated(int group, const std::string& name);
[[nodiscard]] bool is_writable(int group);
// The only one that may hold processes and groups with controllers.
[[nodiscard]] bool is_machines_root(int group);
[[nodiscard]] std::string remedy();

}  // namespace mcpac::sandbox::cgroup
