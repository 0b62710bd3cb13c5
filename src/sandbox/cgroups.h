// SPDX-License-Identifier: Apache-2.0

// The control groups of one warden's children: one for each, where there is a base for them.
//
// More than what every machine gives, so a warden without a base goes on without. But where there
// is one a child is never started outside of a group.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>

#include "sandbox/cgroup_base.h"
#include "sandbox/cgroup_leaf.h"
#include "sandbox/sandbox.h"

namespace mcpac::sandbox::cgroup {

class Groups {
 public:
  // Tries one out with a child, and removes what dead wardens have left.
  Groups();
  // For the next child; nothing where there is no base (any more). Or errno.
  [[nodiscard]] std::expected<std::optional<Leaf>, int> next(const Limits& limits);
  [[nodiscard]] Capability describe() const;

 private:
  [[nodiscard]] std::optional<None> try_one();
  std::expected<Base, None> base_;
  std::uint64_t made_ = 0;
};

}  // namespace mcpac::sandbox::cgroup
