// SPDX-License-Identifier: Apache-2.0

// Questions: options for the approver of a run and for the review before it.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "run/asking/run_approver.h"

namespace mcpac::run {

enum class ReviewWanted : std::uint8_t { kWhenAsked, kAlways };

// The approver of what rules ask, and whether the program is shown even where none does.
struct Questions {
  MakeApprover approver = nullptr;
  ReviewWanted review = ReviewWanted::kWhenAsked;
  std::function<void(std::string_view)> warning = [](std::string_view) {};
};

}  // namespace mcpac::run
