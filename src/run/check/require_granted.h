// SPDX-License-Identifier: Apache-2.0

// require_granted: the check before a run, the same for `execute`, which knows from the source what
// is declared, and `run`, which reads it from the binary.
#pragma once

#include <functional>
#include <string_view>

#include "codegen/lock.h"
#include "core/error.h"
#include "project/project_place.h"
#include "run/check/authorities.h"
#include "run/check/check.h"
#include "run/check/listener.h"
#include "run/check/strictness.h"

namespace mcpac::run {

struct GrantCheck {
  const project::Project& project;
  const PolicyWorld& world;
  const Listener& listener;
  Enforcement enforcement = Enforcement::kEnforce;
  StopSignal stop;
  std::vector<Json>* answers = nullptr;  // where what a person says is noted (records/run_record.h)
};

// kPermissionMissing where `report` declares more than was granted and no person adds it; a person
// who says yes adds to `granted` exactly what was shown. Fills `result`.
[[nodiscard]] Result<void> require_granted(const GrantCheck& parts, const analyzer::Report& report,
                                           policy::LayerText& granted, CheckResult& result);

// kToolWithheld where the program calls, or without known calls declares, a tool that its confined
// server does not offer (project/claimed_needs.h); says of those that are degraded. Before
// require_granted() without `rules`: of what no rule gives. Behind it with them, once tools are
// granted: `rules` is what those of the run give servers (servers/server_places.h).
[[nodiscard]] Result<void> require_offered(const project::Project& project,
                                           const codegen::Lock& lock, const Listener& listener,
                                           const analyzer::Report& report,
                                           const project::PlacesOfServers* rules);

// Writes the tools that options of the command line name as C++ does (`everything.get_sum`) by
// their names in the lock (`everything.get-sum`), each with a note. A name that a tool of the lock
// has is that tool's; rules of files and of clients, which outlast the lock, are not read so.
// kRuleUnknownName where several names are neither, with all of them; one is told by the loader.
[[nodiscard]] Result<void> name_as_locked(policy::LayerText& granted, const codegen::Lock& lock,
                                          const Listener& listener);

void warn_of_observing(const Listener& listener);
// What rules of the command line leave open (policy/explain/lint.h), for every command that takes
// them; those of files are for `policy check` to tell. `tools`: of the lock, null where it is not
// read.
void warn_of_open_ends(const std::function<void(std::string_view)>& warning,
                       const policy::LayerText& granted, const policy::ToolSchemas* tools);

}  // namespace mcpac::run
