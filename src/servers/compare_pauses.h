// SPDX-License-Identifier: Apache-2.0

// ComparePauses: intervals at which a server's tools, which may have changed, are listed again.
//
// One that could not be asked is most often busy or about to be back, so the first pauses are
// short, and its calls wait meanwhile. A longer wait is better reported. A pure value.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

namespace mcpac::servers {

class ComparePauses {
 public:
  struct Spans {
    std::chrono::milliseconds first = std::chrono::seconds(1);  // then twice as long each time
    std::chrono::milliseconds longest = std::chrono::minutes(1);
  };

  explicit ComparePauses(const Spans& spans) : longest_(spans.longest), next_(spans.first) {}

  // Whether calls wait over the next one.
  [[nodiscard]] bool is_waited_for() const { return given_ < kWaitedFor; }
  [[nodiscard]] std::chrono::milliseconds next() {
    ++given_;
    return std::exchange(next_, std::min(2 * next_, longest_));
  }

 private:
  static constexpr int kWaitedFor = 3;

  std::chrono::milliseconds longest_;
  std::chrono::milliseconds next_;
  int given_ = 0;
};

}  // namespace mcpac::servers
