// SPDX-License-Identifier: Apache-2.0

#include "gateway/bounded_warnings.h"

#include <fmt/format.h>

#include <utility>

namespace mcpac::gateway {
namespace {

constexpr auto kPeriod = std::chrono::minutes(1);
constexpr std::size_t kMostTexts = 10;

}  // namespace

void BoundedWarnings::operator()(const std::string& text) {
  const auto now = clock_.steady_now();
  if (now - begun_ >= kPeriod) {
    begun_ = now;
    said_.clear();
    if (const auto more = std::exchange(left_out_, 0); more > 0)
      say_(fmt::format("{} warnings like those before were left out", more));
  }
  if (said_.contains(text) || said_.size() >= kMostTexts) {
    ++left_out_;
    return;
  }
  said_.insert(text);
  say_(text);
}

}  // namespace mcpac::gateway
