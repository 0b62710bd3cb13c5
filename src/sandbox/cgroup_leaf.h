// SPDX-License-Identifier: Apache-2.0

// One child's control group: limits that count what rlimits cannot.
//
// RLIMIT_DATA counts what one process allocates for itself. Its control group counts whatever
// memory was taken for it: shared memory, files in a tmpfs, what the kernel keeps for it. So the
// group's limit lies somewhat above the other one: a program meets that first and can handle it,
// and only what cannot be refused so ends it. Threads are counted here exactly, and how often one
// was refused. A group whose warden was killed is known by its name, and removed by the next
// warden.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "core/file.h"
#include "sandbox/end_report.h"
#include "sandbox/sandbox.h"

namespace mcpac::sandbox::cgroup {

class Leaf {
 public:
  // Below `base`; or errno.
  [[nodiscard]] static std::expected<Leaf, int> make(int base, std::string name,
                                                     const Limits& limits);
  Leaf(Leaf&&) noexcept = default;
  Leaf& operator=(Leaf&& other) noexcept;
  // Processes still in it are killed, and the group removed.
  ~Leaf();

  // Of its folder: what a child is started into.
  [[nodiscard]] int folder() const { return folder_.get(); }
  // Usage of its processes. For when they have ended.
  [[nodiscard]] GroupUse use() const;

 private:
  Leaf(UniqueFd folder, std::string name) : folder_(std::move(folder)), name_(std::move(name)) {}
  void remove();
  UniqueFd folder_;
  std::string name_;
};

// Bytes that a group may have for a program that may have that many.
[[nodiscard]] std::uint64_t group_memory(std::uint64_t memory);

// The names of a warden's groups: its mark (core/abandoned.h) and a number. Empty where /proc gives
// us none: groups that could not be swept are not made.
[[nodiscard]] std::string leaf_name(std::uint64_t number);
// Removes the groups of wardens that are dead, with the processes in them.
void sweep_leaves(int base);

}  // namespace mcpac::sandbox::cgroup
