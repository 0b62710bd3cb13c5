#include "run/run_changes.h"

#include <fmt/format.h>

#include <algorithm>

#include "history/changes/read_upper.h"
#include "project/files/file_mounts.h"

namespace mcpac::run {

Result<RunChanges> RunChanges::begin(const project::Folders& folders, const std::string& run,
                                     const std::string& called, const Clock& clock,
                                     const RunLimits& limits, AgentProgram& program) {
  RunChanges made;
  const bool writes = std::ranges::any_of(program.mounts, [](const sandbox::Mount& mount) {
    return mount.access == sandbox::Mount::Access::kReadWrite;
  });
  if (limits.writes_to != WritesTo::kChangeset || !writes) return made;
  auto kept = program.files ? program.files->kept_places : std::vector<std::string>();
  auto open = history::OpenChangeset::create(history::changes_folder(folders.state), run, called,
                                             program.mounts, clock, std::move(kept));
  if (!open) return pass_on(open);
  made.open_.emplace(std::move(*open));
  return made;
}

Result<StopSignal> RunChanges::watch(StopSignal outer, std::uint64_t limit) {
  if (!open_) return outer;
  auto over = KillSwitch::beside(outer);
  if (!over) return pass_on(over);
  over_ = std::make_unique<KillSwitch>(std::move(*over));
  limit_ = limit;
  watch_.emplace(open_->uppers(), limit, [over = over_.get()] { over->pull(); });
  return over_->stop();
}

Result<std::size_t> RunChanges::end(const Clock& clock, audit::RunLog& log) {
  if (!open_) return 0U;
  watch_.reset();
  // A program that ended between two looks is judged as the others.
  if (over_->was_pulled() || history::hold_more_than(open_->uppers(), limit_)) {
    if (history::hold_too_many_files(open_->uppers())) {
      return fail(ErrorId::kChangesLimit,
                  fmt::format("the program changed more than {} files", history::kMostChanges),
                  {.why = "a changeset holds no more; nothing of it was kept",
                   .fix = "let it write fewer files, or give it the folder without --changeset"});
    }
    return fail(
        ErrorId::kChangesLimit,
        fmt::format("the program changed more than {} bytes of files", limit_),
        {.why = "changes are limited, and counted where they can be read; nothing of them was kept",
         .fix = "--changes-limit SIZE"});
  }
  auto kept = open_->keep(clock);
  if (!kept) return pass_on(kept);
  if (!*kept) return 0U;
  const history::Changeset& changes = **kept;
  auto noted = log.append("ChangesKept", {{"changes", changes.count()},
                                          {"digest", string_member(to_json(changes), "digest")}});
  if (!noted) return pass_on(noted);
  return changes.count();
}

}  // namespace mcpac::run
