// SPDX-License-Identifier: Apache-2.0

// HostLog: log of the resident host, one line an event, at a descriptor.
//
// Refusals are logged at most twenty times in ten minutes, then only how many more there were: no
// client can fill a disk by being refused.
#pragma once

#include <chrono>
#include <string>

namespace mcpac::resident {

class HostLog {
 public:
  // `descriptor` is borrowed. A log that cannot be written stops no run.
  explicit HostLog(int descriptor) : descriptor_(descriptor) {}
  void say(const std::string& text) const;
  void refused(const std::string& text, std::chrono::steady_clock::time_point now);

 private:
  int descriptor_;
  std::chrono::steady_clock::time_point since_{};
  unsigned told_ = 0;
  unsigned untold_ = 0;
};

}  // namespace mcpac::resident
