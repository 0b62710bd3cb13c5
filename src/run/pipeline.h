// SPDX-License-Identifier: Apache-2.0

// execute: analyse → check → compile → run, for one C++ program. The life of a run is told in
// docs/architecture.md; each stage has a file of its own.
//
// The authority of the run is declared ∩ granted ∩ ceilings ∩ lock, fixed before the program
// starts. Everything that the run started is gone when execute() returns.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/report.h"
#include "codegen/lock.h"
#include "gate/upstream.h"
#include "history/recording/recording_choice.h"
#include "history/records/denials.h"
#include "history/records/run_record.h"
#include "policy/authority.h"
#include "project/project.h"
#include "run/asking/questions.h"
#include "run/check/check.h"
#include "run/check/listener.h"
#include "run/check/strictness.h"
#include "run/exit_report.h"
#include "run/run_limits.h"
#include "sandbox/sandbox.h"
#include "servers/host.h"
#include "toolchain/child/stage.h"
#include "toolchain/snapshot.h"

namespace mcpac::run {

// DelegatedRun: existing parts of a run in the name of an MCP client (src/gateway).
//
// The client's servers, its loop and its gate are there; the run has none of its own. Its gate lets
// through what the program declares and the client could ever be allowed, and hands it on: by the
// client's rules, limits and approvals each call is decided there (ADR 0031).

// All borrowed for the run.
struct DelegatedRun {
  servers::Host& host;                 // the loop; no server is started for the run
  gate::Upstream& upstream;            // decides calls as the client's
  const codegen::Lock& lock;           // the tools that the program may know
  const policy::ToolSchemas& schemas;  // of all tools that the client's rules may name
  StopSignal stop;                     // instead of signals
  std::string run_id;
  std::string client_run;
  bool is_replay = false;                     // a recording answers instead of the servers
  history::RefusalBound* refusals = nullptr;  // of the client
};

enum class RunMode : std::uint8_t { kRun, kDryRun };

class PrewarmedRun;

struct ExecuteRequest {
  toolchain::Source source;
  policy::LayerText granted;
  Enforcement enforcement = Enforcement::kEnforce;
  RunMode mode = RunMode::kRun;
  DeniedUses denied_uses = DeniedUses::kRefuse;
  RunLimits limits;
  Questions questions = {};
  PrewarmedRun* standby = nullptr;  // what was started before (run/prewarmed_run.h); may be null
  history::RecordingChoice recording = {};
  // Arguments of the program (mcpac::arguments()): an object. None: nothing was said, and a
  // recording that is played has its own say.
  std::optional<Json> arguments = {};
  std::string lifted_by = {};  // who gave the word for Enforcement::kObserve; recorded
  // The client in whose name it runs, if not its user's own. Then there is no question before the
  // run, and calls are not observed.
  const DelegatedRun* hosted = nullptr;
};

struct Outcome {
  std::string run_id;             // empty: nothing was started
  std::set<std::string> servers;  // that the program may call
  std::optional<analyzer::Report> report;
  CheckResult check;
  history::EarlyAnswers answers;  // before the run
  std::string refused_id;         // of the record of a run that was refused before it began
  std::vector<StageTime> stages;
  std::optional<sandbox::Tier> tier;
  std::optional<sandbox::Verdict> verdict;
  std::optional<Json> result;  // what the program returned as Json
  std::size_t changes = 0;     // of files, kept in a changeset
  RunCalls calls;              // when it ended
  history::Denials denials;    // calls of the run that the user's rules did not admit
  std::optional<Error> error;  // why there is no verdict, or what ended the run
  // What that is the program's last line on standard error says, too.
  bool is_error_said = false;
  int exit_code = 0;
  bool was_compiled = false;  // it was found in no cache
};

[[nodiscard]] Outcome execute(const project::Project& project, const project::Folders& folders,
                              ExecuteRequest request, const Listener& listener);

}  // namespace mcpac::run
