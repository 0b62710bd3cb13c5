// SPDX-License-Identifier: Apache-2.0

// StepBudget: work limit of one comparison of policies; a question that needs more is undecided.
#pragma once

#include <cstddef>

namespace mcpac::policy {

class StepBudget {
 public:
  explicit StepBudget(std::size_t steps) : left_(steps) {}
  // False once the budget is spent, and from then on.
  bool spend(std::size_t steps = 1) {
    left_ = steps > left_ ? 0 : left_ - steps;
    return left_ > 0;
  }
  [[nodiscard]] std::size_t left() const { return left_; }
  [[nodiscard]] bool is_spent() const { return left_ == 0; }

 private:
  std::size_t left_;
};

}  // namespace mcpac::policy
