// SPDX-License-Identifier: Apache-2.0

#include "toolchain/program_build.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "toolchain/analysis.h"

namespace mcpac::toolchain {
namespace {

// Readable when one of the two is: a wait takes one descriptor.
UniqueFd either(int first, int second) {
  UniqueFd both(::epoll_create1(EPOLL_CLOEXEC));
  for (const int descriptor : {first, second}) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (descriptor >= 0 && both) ::epoll_ctl(both.get(), EPOLL_CTL_ADD, descriptor, &event);
  }
  return both;
}

}  // namespace

EarlyCompile::EarlyCompile(const BuildPlace& place, EntryPlace entry,
                           std::optional<WaitingBuild> waiting)
    : entry_(entry),
      cancel_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      stop_(either(place.stop.descriptor, cancel_.get())),
      built_(std::async(std::launch::async, [this, place, waiting = std::move(waiting)]() mutable {
        auto stoppable = place;
        stoppable.stop = StopSignal{stop_.get()};
        return compile_and_link(stoppable, entry_, std::move(waiting));
      })) {}

EarlyCompile::~EarlyCompile() {
  const std::uint64_t one = 1;
  // With nothing to be told by, the compiler ends by its own limits.
  [[maybe_unused]] const auto written = ::write(cancel_.get(), &one, sizeof one);
  if (built_.valid()) built_.wait();
}

Result<Built> EarlyCompile::take() {
  return built_.get();
}

void WaitingTools::let_go() {
  if (analyzer) analyzer->let_go();
  if (build) build->let_go();
}

ProgramBuild::ProgramBuild(const BuildPlace& place, const codegen::Lock& lock, WaitingTools waiting)
    : place_(place),
      lock_(lock),
      waiting_(std::move(waiting)),
      programs_(place.folders),
      key_(key_of(place.snapshot, lock, place.prepared, place.folders)) {}

void ProgramBuild::begin() {
  seen_ = programs_.find(key_);
  if (seen_) return;
  const auto entry = likely_entry(place_.snapshot);
  // With one processor the two would only share it, and a refusal would come later.
  if (entry && std::thread::hardware_concurrency() > 1)
    early_.emplace(place_, *entry, std::exchange(waiting_.build, std::nullopt));
}

Result<analyzer::Report> ProgramBuild::analyze() {
  if (seen_) return seen_->report;
  std::optional<AnalyzerAtWork> at_work;
  if (auto waiting = std::exchange(waiting_.analyzer, std::nullopt))
    at_work = std::move(*waiting).lead_to(place_.snapshot, place_.tools());
  analyzer_waited_ = at_work.has_value();
  auto report = toolchain::analyze(place_, lock_, std::move(at_work));
  if (report) analysed_ = *report;
  return report;
}

Result<Program> ProgramBuild::build(analyzer::Report& report) {
  auto program = seen_ ? Result<Program>(std::move(seen_->program)) : make(report);
  if (program && program->image) program->runner = place_.prepared.folder / "runner";
  return program;
}

Result<Program> ProgramBuild::make(analyzer::Report& report) {
  const EntryPlace entry = entry_place(place_.snapshot, report);
  if (early_ && early_->entry() != entry) early_.reset();
  auto built = early_
                   ? early_->take()
                   : compile_and_link(place_, entry, std::exchange(waiting_.build, std::nullopt));
  if (!built) return pass_on(built);
  compiler_waited_ = built->compiler_waited;
  const std::size_t findings = report.findings.size();
  auto program = checked(place_, std::move(*built), report);
  // What only the object shows would be shown too early, or not at all, the next time.
  if (report.findings.size() != findings) analysed_.reset();
  return program;
}

void ProgramBuild::keep(const Program& program) const {
  if (analysed_) programs_.keep(key_, *analysed_, program);
}

}  // namespace mcpac::toolchain
