// SPDX-License-Identifier: Apache-2.0

// run_agent: one program in the sandbox, its channel at the gate, to its end. Used by `execute`
// (for what it compiled) and by `run` (for a prebuilt program): there is one way to run anything.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audit/log.h"
#include "core/error.h"
#include "gate/agent_door.h"
#include "gate/gate.h"
#include "project/files/file_mounts.h"
#include "run/exit_report.h"
#include "run/run_limits.h"
#include "run/slot.h"
#include "sandbox/sandbox.h"
#include "servers/host.h"
#include "toolchain/child/stage.h"
#include "toolchain/image_file.h"

namespace mcpac::run {

struct AgentProgram {
  std::filesystem::path file;
  std::vector<std::string> arguments;    // with argv[0]
  std::vector<std::string> environment;  // "NAME=value"; empty for an agent
  std::vector<sandbox::Mount> mounts;    // empty for a static program
  sandbox::Admits admits;
  // Source of its declaration: "source", "note", or "grants" where it has none of its own.
  const char* declared_in = "source";
  // The user's files that it was granted (run/give_files.h), open as long as it runs, and where it
  // starts among them; none: null.
  std::shared_ptr<const project::FileMounts> files{};
  std::filesystem::path work_directory = "/";
  // In place of `file`: an image, and the program that runs it.
  std::optional<toolchain::Image> image{};
  std::filesystem::path runner{};
  // A runner that waits already (slot.h), used where it fits and used up by the run; or null.
  std::shared_ptr<Slot> slot{};
  // The value of mcpac::arguments(): an object. The command line above is another thing.
  Json given = Json::object();
};

struct AgentIo {
  std::function<void(std::string_view)> standard_output;
  std::function<void(std::string_view)> standard_error;
  int output_sink = -1;  // see ChildIo
  int error_sink = -1;
  toolchain::OutputGate* output_gate = nullptr;
  // Called on the loop's thread, which waits for no reader; what it leaves for this one is
  // `beside`.
  std::function<void(std::string_view level, std::string_view text)> log;
  toolchain::ChildIo::Beside beside{};
  // The gate as long as it lives; called on the loop's thread. Null: it is going.
  std::function<void(gate::Gate*)> gate = [](gate::Gate*) {};
  // Whether `stop` was the run's own user, and no signal.
  std::function<bool()> was_killed = [] { return false; };
  // kNone: no connection is made, whatever is granted.
  enum class Network : std::uint8_t { kOfHost, kNone } network = Network::kOfHost;
};

struct AgentOutcome {
  sandbox::Verdict verdict;
  sandbox::Tier tier = sandbox::Tier::kA;
  std::optional<Json> result;
  bool output_limit = false;                 // it wrote more than it may, and was ended for it
  bool killed_by_user = false;               // mcpac runs kill
  std::vector<std::string> callers{};        // of a violation or a crash, innermost first
  std::optional<gate::Uncaught> uncaught{};  // what it says that ended it
  std::string expelled{};  // why its connection was ended, where that was for what it sent
  RunCalls calls{};        // when it ended
};

// The sandbox that this program runs in, without descriptors.
[[nodiscard]] sandbox::Spec agent_spec(const AgentProgram& program, const RunLimits& limits);

// `setup` is the authority of this run; it is used up. RunEnded is recorded in `log`; RunStarted
// was (history/records/run_record.h).
[[nodiscard]] Result<AgentOutcome> run_agent(servers::Host& host, sandbox::Warden& warden,
                                             const AgentProgram& program, const RunLimits& limits,
                                             gate::GateSetup setup, audit::RunLog& log,
                                             const AgentIo& io, StopSignal stop);

// The exit code for a run that ended so, and the Error to show when it was not the program's own
// end.
[[nodiscard]] int exit_code_of(const AgentOutcome& outcome);
[[nodiscard]] std::optional<Error> error_of(const AgentOutcome& outcome, const RunLimits& limits);

}  // namespace mcpac::run
