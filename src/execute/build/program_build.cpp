#include "execute/build/program_build.h"

#include <thread>
#include <utility>

#include "execute/build/analysis.h"

namespace mcpac::execute {

ProgramBuild::ProgramBuild(const BuildPlace& place, const codegen::Lock& lock)
    : place_(place),
      lock_(lock),
      programs_(place.folders),
      key_(key_of(place.snapshot, lock, place.prepared, place.folders)) {}

void ProgramBuild::begin() {
  seen_ = programs_.find(key_);
  if (seen_) return;
  const auto entry = likely_entry(place_.snapshot);
  // With one processor the two would only share it, and a refusal would come later.
  if (entry && std::thread::hardware_concurrency() > 1) {
    early_.emplace(place_, *entry);
  }
}

Result<analyzer::Report> ProgramBuild::analyze(std::optional<WaitingTool>* waiting) {
  if (seen_) {
    if (waiting != nullptr && *waiting) (*waiting)->let_go();
    return seen_->report;
  }
  auto report = execute::analyze(place_.snapshot, lock_, place_.prepared, place_.folders,
                                 place_.warden, place_.lowest_tier, place_.stop, waiting);
  if (report) analysed_ = *report;
  return report;
}

Result<Program> ProgramBuild::build(analyzer::Report& report) {
  auto program = seen_ ? Result<Program>(std::move(seen_->program)) : make(report);
  if (program && program->form == Program::Form::kImage)
    program->runner = place_.prepared.folder / "runner";
  return program;
}

Result<Program> ProgramBuild::make(analyzer::Report& report) {
  const EntryPlace entry = entry_place(place_.snapshot, report);
  if (early_ && early_->entry() != entry) early_.reset();
  auto built = early_ ? early_->take() : compile_and_link(place_, entry);
  if (!built) return pass_on(built);
  const std::size_t findings = report.findings.size();
  auto program = checked(place_, std::move(*built), report);
  // What only the object shows would be shown too early, or not at all, the next time.
  if (report.findings.size() != findings) analysed_.reset();
  return program;
}

void ProgramBuild::keep(const Program& program) const {
  if (analysed_) programs_.keep(key_, *analysed_, program.file, program.form);
}

}  // namespace mcpac::execute
