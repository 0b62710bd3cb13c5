// SPDX-License-Identifier: Apache-2.0

#include "resident/host_log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <tuple>

#include "core/printable.h"
#include "core/rfc3339.h"

namespace mcpac::resident {
namespace {

constexpr unsigned kMostRefusals = 20;
constexpr auto kPeriod = std::chrono::minutes(10);

}  // namespace

void HostLog::say(const std::string& text) const {
  const std::string line =
      fmt::format("{} {}\n", rfc3339_utc(std::chrono::system_clock::now()), printable(text, 1'000));
  std::ignore = ::write(descriptor_, line.data(), line.size());
}

void HostLog::refused(const std::string& text, std::chrono::steady_clock::time_point now) {
  if (now >= since_ + kPeriod) {
    if (untold_ > 0) say(fmt::format("refused: {} more", untold_));
    since_ = now;
    told_ = untold_ = 0;
  }
  if (told_ < kMostRefusals) {
    ++told_;
    return say("refused: " + text);
  }
  ++untold_;
}

}  // namespace mcpac::resident
