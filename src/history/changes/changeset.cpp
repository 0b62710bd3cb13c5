// SPDX-License-Identifier: Apache-2.0

#include "history/changes/changeset.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "audit/limits.h"
#include "core/printable.h"
#include "core/rfc3339.h"
#include "history/changes/changes_store.h"
#include "history/changes/folder_access.h"
#include "history/changes/read_upper.h"

namespace mcpac::history {
namespace {

namespace fs = std::filesystem;

// By the clock that stamps files, which is a little beside every other: what a new file is stamped
// with is not before any stamp until now.
std::int64_t stamp_of_now(int folder) {
  constexpr int kNew = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const UniqueFd made(::openat(folder, "started", kNew, 0600));
  struct stat info {};
  if (!made || ::write(made.get(), "\n", 1) != 1 || ::fstat(made.get(), &info) != 0) return -1;
  return FileState::of(info).changed;
}

std::unexpected<Error> cannot_make(const fs::path& folder) {
  return fail(ErrorId::kFileUnwritable, "cannot make a folder for changes",
              {.where = folder.string()});
}

// The merged folder takes its mode from the upper one.
bool make_layers(const fs::path& folder, const fs::path& lower) {
  struct stat info {};
  const fs::path upper = folder / "upper";
  return ::stat(lower.c_str(), &info) == 0 && ::mkdir(folder.c_str(), 0700) == 0 &&
         ::mkdir(upper.c_str(), 0700) == 0 && ::mkdir((folder / "work").c_str(), 0700) == 0 &&
         ::chmod(upper.c_str(), (info.st_mode & 0777U) | 0700U) == 0;
}

Result<void> redirect(sandbox::Mount& mount, Changeset& changes) {
  std::error_code error;
  if (!fs::is_directory(mount.host, error)) {
    return fail(ErrorId::kFilesRefused,
                fmt::format("{} is a file, and its changes cannot be kept apart",
                            printable(mount.host.string())),
                {.fix = "with --changeset grant its folder"});
  }
  const fs::path folder = changes.folder / std::to_string(changes.places.size());
  if (!make_layers(folder, mount.host)) return cannot_make(folder);
  mount.changes = folder;
  changes.places.push_back({.path = mount.host, .identity = mount.identity, .changes = {}});
  return {};
}

Result<std::vector<Change>> read_place(const ChangedPlace& place, const fs::path& upper_path,
                                       std::int64_t started) {
  const UniqueFd lower = open_folder(place.path);
  const UniqueFd upper(::open(upper_path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  const bool same =
      lower && ::fstat(lower.get(), &info) == 0 &&
      place.identity == sandbox::FileIdentity{.device = info.st_dev, .inode = info.st_ino};
  if (!same || !upper) {
    return fail(ErrorId::kChangesConflict,
                fmt::format("{} was replaced while the program ran", place.path.string()));
  }
  return read_upper(upper.get(), lower.get(), started);
}

// Of changesets whose run has ended; one that lives has no record yet.
Result<std::vector<std::string>> kept_runs(const fs::path& folder, std::string_view start) {
  auto parent = lock_changes(folder);
  if (!parent) return pass_on(parent);
  sweep_changes(parent->get());
  auto names = names_in(parent->get(), kMostListed);
  if (!names)
    return fail(ErrorId::kFileUnreadable, "the changes cannot be listed",
                {.where = folder.string()});
  std::erase_if(*names, [&](const std::string& name) {
    return !audit::is_run_id(name) || !name.starts_with(start) ||
           !look_beneath(parent->get(), fs::path(name) / kRecord);
  });
  return std::move(*names);
}

// Of a damaged one the name is known, so that it can go.
Result<Changeset> read_or_name(const fs::path& folder, const std::string& run) {
  auto changes = read_record(folder, run);
  if (changes || changes.error().id != ErrorId::kChangesDamaged) return changes;
  Changeset damaged;
  damaged.run = run;
  damaged.folder = folder / run;
  return damaged;
}

}  // namespace

std::size_t Changeset::count() const {
  std::size_t count = 0;
  for (const ChangedPlace& place : places) count += place.changes.size();
  return count;
}

fs::path changes_folder(const fs::path& state) {
  return state / "changes";
}

Result<OpenChangeset> OpenChangeset::create(const fs::path& folder, const std::string& run,
                                            std::string program,
                                            std::vector<sandbox::Mount>& mounts, const Clock& clock,
                                            std::vector<std::string> kept_places) {
  auto parent = lock_changes(folder);
  if (!parent) return pass_on(parent);
  sweep_changes(parent->get());
  OpenChangeset made;
  made.changes_.run = run;
  made.changes_.program = std::move(program);
  made.changes_.kept_places = std::move(kept_places);
  made.changes_.started = rfc3339_utc(clock.wall_now());
  made.changes_.folder = folder / run;
  if (::mkdirat(parent->get(), run.c_str(), 0700) != 0) return cannot_make(folder / run);
  made.lock_ = open_beneath(parent->get(), run, O_RDONLY | O_DIRECTORY);
  if (!made.lock_ || ::flock(made.lock_.get(), LOCK_EX | LOCK_NB) != 0)
    return cannot_make(folder / run);
  // A descriptor of its own: the lock on the other ends with this function.
  made.parent_ = UniqueFd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!made.parent_) return cannot_make(folder);
  for (sandbox::Mount& mount : mounts) {
    if (mount.access != sandbox::Mount::Access::kReadWrite) continue;
    if (auto done = redirect(mount, made.changes_); !done) return pass_on(done);
  }
  made.started_ = stamp_of_now(made.lock_.get());
  if (made.started_ < 0) return cannot_make(made.changes_.folder);
  return made;
}

OpenChangeset::OpenChangeset(OpenChangeset&& other) noexcept
    : changes_(std::exchange(other.changes_, {})),
      started_(other.started_),
      parent_(std::move(other.parent_)),
      lock_(std::move(other.lock_)) {}

OpenChangeset::~OpenChangeset() {
  if (!parent_ || changes_.run.empty()) return;
  static_cast<void>(remove_tree(parent_.get(), changes_.run));
}

std::vector<fs::path> OpenChangeset::uppers() const {
  std::vector<fs::path> all;
  for (std::size_t i = 0; i < changes_.places.size(); ++i) all.push_back(changes_.upper(i));
  return all;
}

Result<std::optional<Changeset>> OpenChangeset::keep(const Clock& clock) {
  for (std::size_t i = 0; i < changes_.places.size(); ++i) {
    ChangedPlace& place = changes_.places[i];
    auto changes = read_place(place, changes_.upper(i), started_);
    if (!changes) return pass_on(changes);
    place.changes = std::move(*changes);
  }
  if (changes_.count() == 0) return std::optional<Changeset>();
  changes_.ended = rfc3339_utc(clock.wall_now());
  if (auto written = write_record(changes_); !written) return pass_on(written);
  return std::optional(std::exchange(changes_, {}));
}

Result<std::vector<Changeset>> list_changesets(const fs::path& folder) {
  auto runs = kept_runs(folder, "");
  if (!runs) return pass_on(runs);
  std::vector<Changeset> all;
  for (const std::string& run : *runs) {
    if (auto changes = read_or_name(folder, run)) all.push_back(std::move(*changes));
  }
  return all;
}

// By the names of the folders: a record may have megabytes.
Result<Changeset> find_changeset(const fs::path& folder, std::string_view start) {
  auto runs = kept_runs(folder, start);
  if (!runs) return pass_on(runs);
  if (runs->size() == 1 && !start.empty()) return read_or_name(folder, runs->front());
  return fail(ErrorId::kChangesUnknown,
              runs->empty() ? fmt::format("no changes of a run '{}' are kept", printable(start, 64))
                            : fmt::format("'{}' is the start of the ids of {} runs",
                                          printable(start, 64), runs->size()),
              {.fix = "mcpac changes list"});
}

Result<void> check_whole(const Changeset& changes) {
  if (!changes.places.empty()) return {};
  auto read = read_record(changes.folder.parent_path(), changes.run);
  if (!read) return pass_on(read);
  return {};
}

Result<void> discard(const Changeset& changes) {
  // Not under the hands of an apply, which would stop halfway. A record that cannot even be opened
  // has no turn.
  auto turn = take_turn(changes);
  if (!turn && turn.error().id == ErrorId::kChangesConflict) return pass_on(turn);
  auto parent = lock_changes(changes.folder.parent_path());
  if (!parent) return pass_on(parent);
  // First the record: what is left of the rest, whatever happens, is swept.
  static_cast<void>(::unlink((changes.folder / kRecord).c_str()));
  if (remove_tree(parent->get(), changes.run)) return {};
  return fail(ErrorId::kFileUnwritable, "the changes cannot be removed",
              {.where = changes.folder.string()});
}

}  // namespace mcpac::history
