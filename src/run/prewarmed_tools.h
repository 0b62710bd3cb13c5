// PrewarmedTools: processes that a run of a project will most likely need, in their sandboxes
// before the run is known: an analyzer, a compiler and a linker that wait for a program
// (waiting_build.h, docs/adr/0042), and the runner of one, which waits for its image (slot.h,
// docs/adr/0036).
//
// They are what a run like the last one would start. The run uses each where it would start the
// very same now (waiting_tool.h), once, and lets go of it otherwise. Belong to the warden that made
// them.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "codegen/lock.h"
#include "project/project.h"
#include "run/run_limits.h"
#include "run/slot.h"
#include "sandbox/sandbox.h"
#include "toolchain/prepare.h"
#include "toolchain/program_build.h"

namespace mcpac::run {

struct PrewarmedTools {
  toolchain::WaitingTools build;
  std::optional<Slot> slot;
  std::optional<toolchain::KnownPrepared> prepared;  // what they were started for

  // For a run that needs none of them: they end soon, and who destroys this hardly waits.
  void let_go();
};

// For programs that name these servers, with these limits. Nothing where their headers are not
// prepared yet: that takes seconds, and is a run's to do. What cannot be started is left out.
[[nodiscard]] PrewarmedTools start_tools(const project::Project& project, const codegen::Lock& lock,
                                         const std::set<std::string>& servers,
                                         const project::Folders& folders, const RunLimits& limits,
                                         sandbox::Warden& warden);

}  // namespace mcpac::run
