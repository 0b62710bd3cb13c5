#include "faults/support_records.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>

#include "audit/log.h"
#include "audit/verify.h"

namespace faults {

void Records::check_new(Ended host) {
  using mcpac::audit::Standing;
  const std::size_t arrived = scene_.calls_that_arrived();
  calls_ += arrived;
  auto now = scene_.runs();
  std::vector<std::string> added;
  std::ranges::set_difference(now, known_, std::back_inserter(added));
  known_ = std::move(now);
  REQUIRE(added.size() <= 1);
  if (added.empty()) {
    CHECK(arrived == 0);  // nothing is called that is not recorded
    return;
  }
  const auto keys = mcpac::audit::own_keys(scene_.audit());
  REQUIRE(keys);
  const auto verified = mcpac::audit::verify(scene_.audit(), *keys, added.front());
  REQUIRE(verified);
  CHECK(verified->index.problems.empty());
  REQUIRE(verified->runs.size() == 1);
  const auto& run = verified->runs.front();
  for (const auto& problem : run.problems) FAIL_CHECK(problem.where, ": ", problem.what);
  proven_ += run.standing == Standing::kProven ? 1 : 0;
  unfinished_ += run.standing == Standing::kUnfinished ? 1 : 0;
  CHECK((run.standing == Standing::kProven || run.standing == Standing::kUnfinished));
  if (host == Ended::kByItself) CHECK(run.standing == Standing::kProven);
  CHECK(allowed_calls(added.front()) >= arrived);
}

std::size_t Records::allowed_calls(const std::string& run) const {
  const auto events = mcpac::audit::read_events(scene_.audit(), {.run_id = run});
  REQUIRE(events);
  return static_cast<std::size_t>(std::ranges::count_if(*events, [](const auto& event) {
    return event.kind == "CapabilityCheck" && event.payload.at("allowed") == true;
  }));
}

}  // namespace faults
