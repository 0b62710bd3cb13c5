// SPDX-License-Identifier: Apache-2.0

// Replay: every decision of a recorded run, made again from its record (docs/audit.md).
//
// The rules and where their paths lead stand in RunStarted, the schemas in the lock that is kept
// beside the log, clocks and what the file system said in each check. Meters are counted along: a
// record that counted otherwise is a difference as well. Where a decision hangs on arguments that
// were not recorded it cannot be made again; what its record says of the limits is taken over, and
// the run says how many those are.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "audit/log.h"
#include "core/error.h"
#include "core/json.h"
#include "history/records/replayed_run.h"

namespace mcpac::history {

struct ReplayDifference {
  std::string event_id;
  std::string what;
};

struct RunReplay {
  std::string run_id;
  std::size_t decisions = 0;
  std::size_t recomputed = 0;
  std::map<std::string, std::size_t> not_recomputed;  // why → how many
  std::vector<ReplayDifference> differences;          // at most kMaxDifferences
  std::size_t further_differences = 0;
};
inline constexpr std::size_t kMaxDifferences = 20;

// The events of a file by its id, in their order.
using EventsOf = std::function<Result<std::vector<audit::Event>>(const std::string& run_id)>;

// `events` are those of one file, in their order. Where it goes on with a run whose record filled
// others (`continues`), those are gone through before, for what limits had counted by then;
// differences in them are theirs. An error: the run cannot be replayed at all.
[[nodiscard]] Result<RunReplay> replay_run(const std::vector<audit::Event>& events,
                                           const LockOf& lock_of,
                                           const EventsOf& earlier = nullptr);

[[nodiscard]] Json to_json(const RunReplay& replay);

}  // namespace mcpac::history
