// execute: analyse → check → compile → run, for one C++ program. The life of a run is told in
// docs/architecture.md; each stage has a file of its own.
//
// The authority of the run is declared ∩ granted ∩ ceilings ∩ lock, fixed before the program
// starts. Everything that the run started is gone when execute() returns.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report.h"
#include "execute/asking/run_approver.h"
#include "execute/build/snapshot.h"
#include "execute/build/stage.h"
#include "execute/check/check.h"
#include "execute/project/project.h"
#include "execute/recording/recording_choice.h"
#include "execute/records/denials.h"
#include "execute/run/hosted.h"
#include "execute/run/run_limits.h"
#include "policy/authority.h"
#include "sandbox/sandbox.h"

namespace mcpac::execute {

enum class Enforcement : std::uint8_t { kEnforce, kObserve };
// Calls that will certainly be denied: a mistake, or what the program is about.
enum class DeniedUses : std::uint8_t { kRefuse, kExpect };
enum class RunMode : std::uint8_t { kRun, kDryRun };
enum class Review : std::uint8_t { kWhenAsked, kAlways };

struct StageTime {
  std::string name;  // "prepare", "analyse", "check", "compile", "servers", "run"
  std::chrono::microseconds time{0};
};

// What the caller hears while the run goes on, on the thread that called execute().
struct Listener {
  std::function<void(const StageTime&)> stage = [](const StageTime&) {};
  std::function<void(std::string_view)> warning = [](std::string_view) {};
  std::function<void(std::string_view)> note = [](std::string_view) {};
  // Something begins that takes seconds, and is done once a machine or a lock.
  std::function<void(std::string_view)> wait = [](std::string_view) {};
  std::function<void(std::string_view)> standard_output = [](std::string_view) {};
  std::function<void(std::string_view)> standard_error = [](std::string_view) {};
  int output_sink = -1;  // where these two write to, when they may block (ChildIo)
  int error_sink = -1;
  // mcpac::log of the program: level and text.
  std::function<void(std::string_view, std::string_view)> log = [](std::string_view,
                                                                   std::string_view) {};
  // Something is missing: may the run have it? Only asked when a person can answer.
  // `stop` becomes readable on Ctrl-C: then the answer is no.
  std::function<bool(const CheckResult&, StopSignal stop)> may_grant =
      [](const CheckResult&, StopSignal) { return false; };
};

// Who answers what rules ask, and whether the program is shown even where none does.
struct Questions {
  MakeApprover approver = nullptr;
  Review review = Review::kWhenAsked;
  std::function<void(std::string_view)> warning = [](std::string_view) {};
};

class Standby;

struct ExecuteRequest {
  Source source;
  policy::LayerText granted;
  Enforcement enforcement = Enforcement::kEnforce;
  RunMode mode = RunMode::kRun;
  DeniedUses denied_uses = DeniedUses::kRefuse;
  RunLimits limits;
  Questions questions = {};
  Standby* standby = nullptr;  // what was started before (execute/run/standby.h); may be null
  RecordingChoice recording = {};
  // In whose name it runs, if not its user's own. Then nobody is asked before the run, and calls
  // are not observed.
  const Hosted* hosted = nullptr;
};

struct Outcome {
  std::string run_id;             // empty: nothing was started
  std::set<std::string> servers;  // that the program may call
  std::optional<analyzer::Report> report;
  CheckResult check;
  std::vector<StageTime> stages;
  std::optional<sandbox::Tier> tier;
  std::optional<sandbox::Verdict> verdict;
  std::optional<Json> result;  // what the program returned as Json
  std::size_t changes = 0;     // of files, kept in a changeset
  Denials denials;             // calls of the run that the user's rules did not admit
  std::optional<Error> error;  // why there is no verdict, or what ended the run
  int exit_code = 0;
};

[[nodiscard]] Outcome execute(const Project& project, const Folders& folders,
                              ExecuteRequest request, const Listener& listener);

}  // namespace mcpac::execute
