// RunChanges: the changeset of one run, where it has one: from before its program starts until what
// it changed is recorded. A run without does nothing here.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "audit/log.h"
#include "core/clock.h"
#include "core/error.h"
#include "history/changes/changes_watch.h"
#include "history/changes/changeset.h"
#include "run/agent_run.h"
#include "run/kill_switch.h"
#include "run/run_limits.h"

namespace mcpac::run {

class RunChanges {
 public:
  // With limits.writes_to kChangeset, takes the writable mounts of `program` to a new changeset.
  [[nodiscard]] static Result<RunChanges> begin(const project::Folders& folders,
                                                const std::string& run, const std::string& called,
                                                const Clock& clock, const RunLimits& limits,
                                                AgentProgram& program);
  // Ends the program when it writes too much, beside what `outer` stops.
  [[nodiscard]] Result<StopSignal> watch(StopSignal outer, std::uint64_t limit);
  // The program has ended: what it changed is kept and audited, or nothing is, where it changed
  // nothing or more than it may (kChangesLimit). How many changes were kept.
  [[nodiscard]] Result<std::size_t> end(const Clock& clock, audit::RunLog& log);

 private:
  std::optional<history::OpenChangeset> open_;
  std::unique_ptr<KillSwitch> over_;  // where it does not move
  std::optional<history::ChangesWatch> watch_;
  std::uint64_t limit_ = 0;
};

}  // namespace mcpac::run
