// SPDX-License-Identifier: Apache-2.0

// ProgramBuild: one program from its snapshot to something that can run, as fast as it may be.
//
// A program that was seen before is found with its report; of any other the compiler starts beside
// the analyzer. Both change when the work is done, never what is checked: the report that analyze()
// gives is held against grants by the caller, and build() comes after that.
#pragma once

#include <future>
#include <optional>
#include <string>

#include "core/file.h"
#include "toolchain/compile.h"
#include "toolchain/seen_programs.h"
#include "toolchain/waiting_analyzer.h"
#include "toolchain/waiting_build.h"

namespace mcpac::toolchain {

// EarlyCompile: a program, compiled and linked while it is still being analysed.
//
// Most of both is clang reading the same text, and neither waits for the other. So the compiler
// starts with the entry that the text seems to have; what it made counts only where the analysis
// finds this very entry. Nothing of it is looked at, kept or run before everything was checked, and
// a program that is refused takes its compiler with it.
class EarlyCompile {
 public:
  // Begins at once, on a thread of its own. All of `place` outlives this. `waiting`: tools that
  // were started before, used where they fit.
  EarlyCompile(const BuildPlace& place, EntryPlace entry, std::optional<WaitingBuild> waiting);
  EarlyCompile(const EarlyCompile&) = delete;
  EarlyCompile& operator=(const EarlyCompile&) = delete;
  ~EarlyCompile();  // ends the compiler, where its result was not taken
  [[nodiscard]] EntryPlace entry() const { return entry_; }
  // Waits for what was built, or for what went wrong. Once.
  [[nodiscard]] Result<Built> take();

 private:
  EntryPlace entry_;
  UniqueFd cancel_;  // readable: the program is not wanted any more
  UniqueFd stop_;    // readable: that, or what `place` names
  std::future<Result<Built>> built_;
};

// Started before there was a program. What does not fit it, or is not needed, ends.
struct WaitingTools {
  std::optional<WaitingAnalyzer> analyzer{};
  std::optional<WaitingBuild> build{};
  void let_go();
};

class ProgramBuild {
 public:
  ProgramBuild(const BuildPlace& place, const codegen::Lock& lock, WaitingTools waiting = {});
  // Looks whether the program is known, and starts the compiler where it is not; returns at once.
  void begin();
  // After begin().
  [[nodiscard]] Result<analyzer::Report> analyze();
  // `report` is the one of analyze(), and lets the program run.
  [[nodiscard]] Result<Program> build(analyzer::Report& report);
  [[nodiscard]] bool was_seen() const { return seen_.has_value(); }
  // Whether what was started before the program was of use; known once it is analysed and built.
  [[nodiscard]] bool analyzer_waited() const { return analyzer_waited_; }
  [[nodiscard]] bool compiler_waited() const { return compiler_waited_; }
  // What waited for the program in vain ends: of one that was seen, all. Giving its memory back
  // takes a processor some milliseconds, so it is called when the program has begun.
  void let_go_of_tools() { waiting_.let_go(); }
  // For the next time. Costs some milliseconds, so it is called when no client waits any more.
  void keep(const Program& program) const;

 private:
  Result<Program> make(analyzer::Report& report);
  BuildPlace place_;
  const codegen::Lock& lock_;
  WaitingTools waiting_;
  SeenPrograms programs_;
  std::string key_;
  std::optional<SeenProgram> seen_;
  std::optional<EarlyCompile> early_;
  bool analyzer_waited_ = false;
  bool compiler_waited_ = false;
  std::optional<analyzer::Report> analysed_;  // as it came; nothing: not to be kept
};

}  // namespace mcpac::toolchain
