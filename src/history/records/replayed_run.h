// SPDX-License-Identifier: Apache-2.0

// ReplayedRun: the authority of a recorded run, rebuilt from its RunStarted and its lock
// (replay.h).
//
// Its clock shows the times, and its file system the answers, of the record that is looked at.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/lock.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/json.h"
#include "core/permission.h"
#include "policy/authority.h"
#include "policy/policy_record.h"
#include "servers/tool_tables.h"

namespace mcpac::history {

using LockOf = std::function<Result<codegen::Lock>(const std::string& digest)>;

// Shows the times of a record.
class RecordedClock final : public Clock {
 public:
  void set(const policy::Evidence& evidence) {
    run_time_ = evidence.run_time;
    wall_ = evidence.wall;
  }
  [[nodiscard]] std::chrono::steady_clock::time_point steady_now() const override {
    return std::chrono::steady_clock::time_point(run_time_);
  }
  [[nodiscard]] std::chrono::system_clock::time_point wall_now() const override {
    return std::chrono::system_clock::time_point(wall_);
  }

 private:
  std::chrono::nanoseconds run_time_{0};
  std::chrono::microseconds wall_{0};
};

struct ReplayedRun {
  codegen::Lock lock;
  policy::ToolSchemas schemas;
  servers::CompiledTools tools;
  std::set<Permission> declared;
  std::vector<policy::PathFact> loaded_paths;
  RecordedClock clock;
  policy::RecordedPaths paths;
  std::optional<policy::Authority> authority;  // borrows all of the above
  bool observes = false;
  bool is_older = false;  // decided when values and schemas were read in fewer ways
};

// `policy` and `payload` as RunStarted has them; a confined server's own record has no lock. Null
// where the rules do not load any more, which is a difference like any other; an Error where
// nothing can be said of the run.
[[nodiscard]] Result<std::unique_ptr<ReplayedRun>> load_replayed_run(
    const Json& policy, const Json& payload, const LockOf& lock_of,
    std::vector<std::string>& differences);

}  // namespace mcpac::history
