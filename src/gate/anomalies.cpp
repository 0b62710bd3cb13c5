// SPDX-License-Identifier: Apache-2.0

#include "gate/anomalies.h"

#include <tuple>

#include "gate/answer.h"

namespace mcpac::gate {
namespace {

constexpr std::size_t kRecorded = 64;
constexpr std::size_t kDetailLimit = 256;

}  // namespace

// An anomaly never leads to a call, so one that cannot be recorded need not stop anything: the next
// call's own record will fail and refuse it.
void Anomalies::note(std::string_view what, std::string_view detail) {
  if (++count_ > kRecorded) return;
  Json payload = {{"what", what}};
  if (!detail.empty()) payload["detail"] = bounded(detail, kDetailLimit);
  std::ignore = sink_.append("Anomaly", std::move(payload));
}

void Anomalies::summarize() {
  if (count_ <= kRecorded) return;
  std::ignore =
      sink_.append("Anomaly", {{"what", "more anomalies"}, {"count", count_ - kRecorded}});
  count_ = 0;
}

}  // namespace mcpac::gate
