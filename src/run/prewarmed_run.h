// SPDX-License-Identifier: Apache-2.0

// PrewarmedRun: parts of a run that can be prepared before the run is known: its warden, the lock,
// the servers that the last run of the project used with the schemas of their tools, the processes
// of PrewarmedTools, and the sweep of what killed runs left.
//
// A run takes these parts only where it would start the same ones now: the same entries of
// mcpac.json, the same lock, servers with the same command lines and unchanged programs
// (server_stamps.h) that neither failed, died nor drifted meanwhile and that all may be called in
// the run, and a project that was not used since (project/project_use.h). Whatever differs is shut
// down first, and the run starts its own. Serves one run. Not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "codegen/lock.h"
#include "project/known_lock.h"
#include "project/project.h"
#include "project/project_use.h"
#include "run/run_limits.h"
#include "run/slot.h"
#include "sandbox/sandbox.h"
#include "servers/host.h"
#include "servers/tool_tables.h"
#include "toolchain/prepare.h"
#include "toolchain/program_build.h"

namespace mcpac::run {

// PrewarmedTools: processes that a run of a project will most likely need, in their sandboxes
// before the run is known: an analyzer, a compiler and a linker that wait for a program
// (waiting_build.h, docs/adr/0042), and the runner of one, which waits for its image (slot.h,
// docs/adr/0036).
//
// They are what a run like the last one would start. The run uses each where it would start the
// very same now (waiting_tool.h), once, and lets go of it otherwise. Belong to the warden that made
// them.
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

class PrewarmedRun {
 public:
  // Returns at once; servers go on starting. Of `servers` are left out: those that mcpac.json does
  // not know or has disabled, those behind a URL (their sessions end by the server's rules), and
  // those that read a file when they start (${file:…} may say something else by then), those that
  // cannot be recognised later as still the same (server_stamps.h), and all of them while the
  // project is in use. SIGINT, SIGTERM and SIGHUP must be blocked already: the threads made here
  // inherit that.
  [[nodiscard]] static Result<std::unique_ptr<PrewarmedRun>> prepare(
      const std::filesystem::path& config_file, const project::Folders& folders,
      const std::set<std::string>& servers);
  // Of a warden and tools alone, for a program in the name of a client (DelegatedRun), whose
  // servers are there. `project` and `lock` as its run will have them. The warden ends with the
  // calling thread.
  [[nodiscard]] static Result<std::unique_ptr<PrewarmedRun>> of_tools(
      const project::Project& project, const codegen::Lock& lock, const project::Folders& folders,
      const std::set<std::string>& servers, const RunLimits& limits);
  ~PrewarmedRun();
  PrewarmedRun(const PrewarmedRun&) = delete;
  PrewarmedRun& operator=(const PrewarmedRun&) = delete;

  [[nodiscard]] std::optional<sandbox::Warden> take_warden();
  // That of the project as it is now, which is seldom another than it was.
  [[nodiscard]] Result<std::shared_ptr<const project::KnownLock>> load_lock(
      const project::Project& project) const {
    return project::load_known_lock(project, lock_);
  }
  // The tools of these servers, compiled; null where they are others than those that were prepared,
  // or of another lock.
  [[nodiscard]] std::shared_ptr<const servers::CompiledTools> compiled_tools(
      const codegen::Lock& lock, const std::set<std::string>& servers) const;
  // What was started in sandboxes of that warden; empty after the first time.
  [[nodiscard]] PrewarmedTools take_tools();
  // Null where a run of this project and lock, whose rules may admit calls of these servers, would
  // start other ones.
  [[nodiscard]] std::unique_ptr<servers::Host> take_host(const project::Project& project,
                                                         const codegen::Lock& lock,
                                                         const std::set<std::string>& admitted);
  // That the servers of its host are started with, also after it was taken.
  [[nodiscard]] const std::shared_ptr<servers::ConfinedRules>& rules() const {
    return project_.confined;
  }

  using Stamps = std::map<std::string, std::string>;  // by server

 private:
  PrewarmedRun() = default;
  [[nodiscard]] bool fits(const project::Project& project, const codegen::Lock& lock,
                          const std::set<std::string>& admitted) const;

  std::optional<sandbox::Warden> warden_;
  PrewarmedTools tools_;  // end before the warden
  project::Project project_;
  std::shared_ptr<const project::KnownLock> lock_;
  std::set<std::string> compiled_servers_;
  std::shared_ptr<const servers::CompiledTools> compiled_;  // of these
  project::Folders folders_;
  std::optional<std::string> last_use_;  // of the project, as it was before the start
  Stamps servers_;                       // that were started, as they lay on the disk before
  std::unique_ptr<servers::Host> host_;  // borrows project_ and lock_, also after it was taken
};

// The parts as a run takes them: of `standby`, or else (or with null) its own.
[[nodiscard]] Result<sandbox::Warden> warden_for_run(
    PrewarmedRun* standby, const project::Folders& folders,
    sandbox::Explore explore = sandbox::Explore::kAtOnce);
[[nodiscard]] PrewarmedTools tools_for_run(PrewarmedRun* standby);
[[nodiscard]] Result<std::shared_ptr<const project::KnownLock>> lock_for_run(
    const PrewarmedRun* standby, const project::Project& project);
[[nodiscard]] std::shared_ptr<const servers::CompiledTools> compiled_for_run(
    const PrewarmedRun* standby, const codegen::Lock& lock, const std::set<std::string>& servers,
    const codegen::ServerChecks& server_checks);
// Servers are down before the use of the project is over.
struct RunHost {
  project::ProjectUse use;
  std::unique_ptr<servers::Host> host;
  std::shared_ptr<servers::ConfinedRules>
      rules;  // that its servers are started with; null: none is confined
};
[[nodiscard]] RunHost host_for_run(PrewarmedRun* standby, const project::Folders& folders,
                                   const project::Project& project, const codegen::Lock& lock,
                                   const std::set<std::string>& admitted);

}  // namespace mcpac::run
