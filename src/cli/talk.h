// SPDX-License-Identifier: Apache-2.0

// Talk: mcpac's messages on standard error, whose reader may be slow or absent.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace mcpac::cli {

class Talk {
 public:
  // What was said on standard output before comes before it where both go to one place. Never
  // throws: there is no place left to report that an error cannot be reported.
  void write(std::string_view text);
  // Without it, the reader is waited for without an end, as any command does. With it, until then,
  // for all texts together; what is not taken at once afterwards is lost.
  void wait_until(std::chrono::steady_clock::time_point until) { until_ = until; }

 private:
  [[nodiscard]] bool is_taken();

  std::optional<std::chrono::steady_clock::time_point> until_;
};

}  // namespace mcpac::cli
