// ProgramBuild: one program from its snapshot to something that can run, as fast as it may be.
//
// A program that was seen before is found with its report; of any other the compiler starts beside
// the analyzer. Both change when the work is done, never what is checked: the report that analyze()
// gives is held against grants by the caller, and build() comes after that.
#pragma once

#include <optional>
#include <string>

#include "execute/build/compile.h"
#include "execute/build/early_compile.h"
#include "execute/build/seen_programs.h"
#include "execute/child/waiting_tool.h"

namespace mcpac::execute {

class ProgramBuild {
 public:
  ProgramBuild(const BuildPlace& place, const codegen::Lock& lock);
  // Looks whether the program is known, and starts the compiler where it is not; returns at once.
  void begin();
  // After begin(). `waiting`: an analyzer that was started before; it is taken where it is used,
  // and told to end where it is not.
  [[nodiscard]] Result<analyzer::Report> analyze(std::optional<WaitingTool>* waiting = nullptr);
  // `report` is the one of analyze(), and lets the program run.
  [[nodiscard]] Result<Program> build(analyzer::Report& report);
  // For the next time. Costs some milliseconds, so it is called when nobody waits any more.
  void keep(const Program& program) const;

 private:
  Result<Program> make(analyzer::Report& report);
  BuildPlace place_;
  const codegen::Lock& lock_;
  SeenPrograms programs_;
  std::string key_;
  std::optional<SeenProgram> seen_;
  std::optional<EarlyCompile> early_;
  std::optional<analyzer::Report> analysed_;  // as it came; nothing: not to be kept
};

}  // namespace mcpac::execute
