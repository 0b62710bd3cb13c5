// SPDX-License-Identifier: Apache-2.0

// Anomalies: record of things that a well-behaved program never does, within a bound.
//
// The program decides how often this happens, so only the first records of a connection are written
// in full and the rest is counted: a flood of strange frames fills neither the disk nor the log's
// readers.
#pragma once

#include <cstddef>
#include <string_view>

#include "audit/log.h"

namespace mcpac::gate {

class Anomalies {
 public:
  // `sink` is borrowed.
  explicit Anomalies(audit::Sink& sink) : sink_(sink) {}

  // `what` is ours and short; `detail` may be the program's text and is cut.
  void note(std::string_view what, std::string_view detail = "");
  // Records how many were only counted, if any. Once, when the connection ends.
  void summarize();
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  audit::Sink& sink_;
  std::size_t count_ = 0;
};

}  // namespace mcpac::gate
