// SPDX-License-Identifier: Apache-2.0

// Work: budget of computation before an answer, counted in steps and not in time.
//
// A step is about a character looked at: some nanoseconds. What servers and clients can make long
// is held against it, so that no input holds up the loop; and what is decided does not depend on
// how fast the machine is.
#pragma once

#include <algorithm>
#include <cstddef>

namespace mcpac {

class Work {
 public:
  explicit Work(std::size_t most) : left_(most) {}
  [[nodiscard]] bool suffices_for(std::size_t steps) const { return steps <= left_; }
  void spend(std::size_t steps) { left_ -= std::min(steps, left_); }
  [[nodiscard]] std::size_t left() const { return left_; }

 private:
  std::size_t left_;
};

}  // namespace mcpac
