// SPDX-License-Identifier: Apache-2.0

// BoundedWarnings: rate-limited warnings to the user about the acts of clients.
//
// A client decides how often that is: the same text is said once a minute, and no more than a few
// texts a minute at all; how many were left out is said with the next. Single-threaded.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "core/clock.h"

namespace mcpac::gateway {

class BoundedWarnings {
 public:
  using Say = std::function<void(std::string_view)>;
  // `clock` is borrowed.
  BoundedWarnings(Say say, const Clock& clock) : say_(std::move(say)), clock_(clock) {}
  void operator()(const std::string& text);

 private:
  Say say_;
  const Clock& clock_;
  std::chrono::steady_clock::time_point begun_{};  // of this minute
  std::set<std::string> said_;                     // in it
  std::size_t left_out_ = 0;
};

}  // namespace mcpac::gateway
