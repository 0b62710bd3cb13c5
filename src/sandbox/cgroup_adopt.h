// SPDX-License-Identifier: Apache-2.0

// A host that is alone in a control group that was left to it makes it fit for its children.
//
// A group with controllers for those below it may not have processes itself, so the host moves into
// one below: from there it, and whatever it starts from now on, finds the other as its base
// (cgroup_base.h). With another process in the group nothing is changed: its place is not ours.
#pragma once

#include "core/file.h"

namespace mcpac::sandbox::cgroup {

// Gives the group back as it was with its end, if no other process has begun to use it.
class Adopted {
 public:
  // Before the first child is started: a child that is there by then stays where it is, and that
  // makes it impossible. Does nothing where a base is there already.
  [[nodiscard]] static Adopted try_to();
  // Whether there is something to give back.
  [[nodiscard]] bool has_moved() const { return static_cast<bool>(group_); }
  // What a host that had moved and was killed could not give back, for its warden. Only for the
  // warden of that host: others are in the same group without having made it so, as a host that was
  // started by a server of the first.
  [[nodiscard]] static Adopted of_dead_host();
  Adopted() = default;
  Adopted(Adopted&&) noexcept = default;
  Adopted& operator=(Adopted&&) = delete;
  ~Adopted();

 private:
  explicit Adopted(UniqueFd group) : group_(std::move(group)) {}
  UniqueFd group_;  // none: nothing was done
};

}  // namespace mcpac::sandbox::cgroup
