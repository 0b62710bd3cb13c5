// SPDX-License-Identifier: Apache-2.0

// supervise: the last stage of `execute` and of `run`, the same for both: an audit log, a gate with
// the run's authority, the program in the sandbox, and what became of it.
#pragma once

#include "core/clock.h"
#include "gate/gate.h"
#include "history/recording/run_recording.h"
#include "policy/authority.h"
#include "run/agent_run.h"
#include "run/pipeline.h"
#include "run/prewarmed_run.h"

namespace mcpac::run {

struct RunAuthority {
  policy::Authority authority;
  gate::Declared declared;
  Enforcement enforcement = Enforcement::kEnforce;
  gate::Binding binding;
  std::string program;  // as messages call it
  std::string lifted_by = {};
  Json client_policy = nullptr;  // RunStart
};

// The parts of a run that are made before this stage. All borrowed.
struct RunParts {
  const project::Folders& folders;
  const codegen::Lock& lock;
  servers::Host& host;
  sandbox::Warden& warden;
  const Interrupt& interrupt;
  const Clock& clock;
  const Listener& listener;
  RunApprover* approver = nullptr;             // null: what asks is denied
  history::RunRecording* recording = nullptr;  // null: neither recorded nor replayed
  const DelegatedRun* hosted = nullptr;        // null: the run is its user's own
  const PrewarmedRun* standby = nullptr;       // null: nothing was prepared
  // Places that rules give its confined servers, as records have it; null: none is, or they are no
  // run's.
  Json server_places = nullptr;
};

// Fills the run id, tier, verdict, result, error and exit code of `outcome`.
[[nodiscard]] Result<void> supervise(const RunParts& parts, AgentProgram program,
                                     const RunLimits& limits, RunAuthority authority,
                                     Outcome& outcome);

// After a run: an error that ended it is its outcome. When a signal ended it, that is what is said,
// whatever stage it was in; a program that ended by itself before keeps its own end.
void conclude(const Interrupt& interrupt, Result<void> done, Outcome& outcome);

// Records a run that ends with this error before it began, where that is_refusal(). The declared
// set is read off the outcome.
void record_refused_run(history::RefusedRun run, const project::Folders& folders,
                        const Listener& listener, Outcome& outcome);

[[nodiscard]] std::set<std::string> servers_of(const std::set<Permission>& tools);

}  // namespace mcpac::run
