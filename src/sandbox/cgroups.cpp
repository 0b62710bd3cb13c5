// SPDX-License-Identifier: Apache-2.0

#include "sandbox/cgroups.h"

#include <cerrno>
#include <cstring>
#include <string>

#include "sandbox/trial.h"

namespace mcpac::sandbox::cgroup {
namespace {

None failed(const Base& base, int error) {
  const char* const name = ::strerrorname_np(error);
  return {"no group can be used below " + base.path + ": " + (name != nullptr ? name : "?"),
          remedy()};
}

}  // namespace

Groups::Groups() : base_(find_base()) {
  if (!base_) return;
  sweep_leaves(base_->folder.get());
  if (auto problem = try_one()) base_ = std::unexpected(std::move(*problem));
}

std::optional<None> Groups::try_one() {
  if (leaf_name(0).empty()) return None{"/proc does not tell who this process is", remedy()};
  constexpr std::uint64_t kAny = std::uint64_t{64} << 20U;
  auto leaf = next({.memory = kAny});
  if (!leaf) return failed(*base_, leaf.error());
  if (!*leaf) return failed(*base_, ENOENT);
  Plan plan = trial_plan();
  plan.group = (*leaf)->folder();
  const Trial trial = try_out(plan);
  if (!trial.works()) return failed(*base_, trial.failure.error);
  return std::nullopt;
}

// The controllers may have been taken back since the base was found.
std::expected<std::optional<Leaf>, int> Groups::next(const Limits& limits) {
  if (!base_) return std::nullopt;
  const int group = base_->folder.get();
  auto leaf = Leaf::make(group, leaf_name(made_++), limits);
  if (leaf) return std::move(*leaf);
  if (passes_on(group)) return std::unexpected(leaf.error());
  base_ =
      std::unexpected(None{base_->path + " does not pass memory and pids on any more", remedy()});
  return std::nullopt;
}

Capability Groups::describe() const {
  constexpr const char* kName = "cgroup limits";
  if (base_) return {kName, true, "memory and threads of each child, below " + base_->path, {}};
  return {kName, false, base_.error().why,
          base_.error().remedy + "; without it rlimits hold, which do not count files in a tmpfs"};
}

}  // namespace mcpac::sandbox::cgroup
