// SPDX-License-Identifier: Apache-2.0

#include "history/changes/apply.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/file.h"
#include "core/folds_case.h"
#include "core/printable.h"
#include "core/repository.h"
#include "core/shell_quote.h"
#include "history/changes/change.h"
#include "history/changes/changes_store.h"
#include "history/changes/folder_access.h"
#include "project/files/open_place.h"
#include "project/files/protected_names.h"

namespace mcpac::history {
namespace {

// NewRepositories: folders that changes would make into git repositories (core/repository.h),
// together with what lies there already. No protected name gives them away.
class NewRepositories {
 public:
  // A change that is to be made below `place`, an open folder that is borrowed.
  void add(int place, const Change& change);
  // Whether what `path` names would lie in one.
  [[nodiscard]] bool contain(int place, const std::filesystem::path& path);

 private:
  using Folder = std::pair<int, std::filesystem::path>;
  [[nodiscard]] bool is_one(const Folder& folder);
  // Of the folder, or of the nearest above it that is there.
  [[nodiscard]] NamesCompared names_in(const Folder& folder);
  std::map<Folder, RepositoryParts> made_;
  std::map<Folder, bool> known_;
  FoldingDevices devices_;
};

namespace fs = std::filesystem;

void NewRepositories::add(int place, const Change& change) {
  const bool deletes =
      change.kind == Change::Kind::kDeleted || change.kind == Change::Kind::kFolderDeleted;
  const fs::path path = change.path;
  if (!deletes) made_[{place, path.parent_path()}].add(path.filename().native());
}

bool NewRepositories::contain(int place, const fs::path& path) {
  for (fs::path folder = path.parent_path();; folder = folder.parent_path()) {
    if (is_one({place, folder})) return true;
    if (folder.empty()) return false;
  }
}

bool NewRepositories::is_one(const Folder& folder) {
  const auto [at, is_new] = known_.try_emplace(folder, false);
  if (!is_new) return at->second;
  const auto made = made_.find(folder);
  RepositoryParts parts = made == made_.end() ? RepositoryParts() : made->second;
  for (const std::string_view name : kRepositoryParts) {
    if (look_beneath(folder.first, folder.second / name)) parts.add(name);
  }
  at->second =
      parts.is_whole(NamesCompared::kAsWritten) ||
      (parts.is_whole(NamesCompared::kFolded) && names_in(folder) == NamesCompared::kFolded);
  return at->second;
}

NamesCompared NewRepositories::names_in(const Folder& folder) {
  for (fs::path at = folder.second;; at = at.parent_path()) {
    const UniqueFd there = open_beneath(folder.first, at, O_RDONLY | O_DIRECTORY);
    if (!there && !at.empty()) continue;
    const bool folds = !there || FoldingLook(there.get(), {}).folds(devices_);
    return folds ? NamesCompared::kFolded : NamesCompared::kAsWritten;
  }
}

}  // namespace

namespace {

// ApplyFile: one file of a changeset put into the user's folder, whole or not at all.

// Copies beside `name` in the open folder `parent` and renames; what is copied must have the digest
// that was recorded. A file that was added never takes the place of another.
[[nodiscard]] Result<void> put_file(const UniqueFd& source, const UniqueFd& parent,
                                    const std::string& name, const Change& change);

std::unexpected<Error> cannot_write(const std::string& name, int error) {
  return fail(ErrorId::kFileUnwritable,
              fmt::format("{}: {}", printable(name), std::system_category().message(error)));
}

// At most `size` bytes and one: more than was recorded shows in the digest, and needs no room.
int copy(int from, int to, std::uint64_t size) {
  std::array<char, std::size_t{1} << 16U> piece{};
  std::uint64_t copied = 0;
  while (copied <= size) {
    const ssize_t got = ::read(from, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return 0;
    for (ssize_t at = 0; at < got;) {
      const ssize_t put = ::write(to, piece.data() + at, static_cast<std::size_t>(got - at));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return errno;
      at += put;
    }
    copied += static_cast<std::uint64_t>(got);
  }
  return 0;
}

// Root keeps the owner of a file; for any other user that is the user.
int give_back(int file, int parent, const std::string& name) {
  struct stat before {};
  if (::geteuid() != 0 || ::fstatat(parent, name.c_str(), &before, AT_SYMLINK_NOFOLLOW) != 0)
    return 0;
  return ::fchown(file, before.st_uid, before.st_gid) == 0 ? 0 : errno;
}

// Without a name until it is whole, where the file system has such files: a process that is killed
// meanwhile leaves nothing.
struct Temporary {
  UniqueFd file;
  std::string name;  // empty: none yet
};

Temporary make_temporary(const UniqueFd& parent, const std::string& name) {
  UniqueFd nameless(::openat(parent.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (nameless) return {std::move(nameless), ""};
  constexpr int kNew = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  return {UniqueFd(::openat(parent.get(), name.c_str(), kNew, 0600)), name};
}

// Gives it the name; 0 or errno.
int link_as(const UniqueFd& parent, const Temporary& made, const std::string& name) {
  const std::string self = fmt::format("/proc/self/fd/{}", made.file.get());
  return ::linkat(AT_FDCWD, self.c_str(), parent.get(), name.c_str(), AT_SYMLINK_FOLLOW) == 0
             ? 0
             : errno;
}

// A new file replaces none; another replaces the one that it changes, at once.
int settle(const UniqueFd& parent, Temporary& made, const std::string& aside,
           const std::string& name, bool replaces) {
  if (made.name.empty()) {
    if (!replaces) return link_as(parent, made, name);
    if (const int error = link_as(parent, made, aside)) return error;
    made.name = aside;
  }
  const unsigned flags = replaces ? 0 : RENAME_NOREPLACE;
  if (::renameat2(parent.get(), aside.c_str(), parent.get(), name.c_str(), flags) != 0)
    return errno;
  made.name.clear();
  return 0;
}

Result<void> put_file(const UniqueFd& source, const UniqueFd& parent, const std::string& name,
                      const Change& change) {
  struct stat info {};
  if (!source || ::fstat(source.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return fail(ErrorId::kChangesDamaged,
                fmt::format("what the program wrote to {} is gone", printable(change.path)),
                {.fix = "discard the changes, and run the program again"});
  }
  const std::string aside = fmt::format(".mcpac-apply-{}-{}", ::getpid(), info.st_ino);
  Temporary made = make_temporary(parent, aside);
  if (!made.file) return cannot_write(change.path, errno);
  const auto give_up = [&](std::unexpected<Error> error) {
    if (!made.name.empty()) ::unlinkat(parent.get(), made.name.c_str(), 0);
    return error;
  };
  if (const int error = copy(source.get(), made.file.get(), change.size))
    return give_up(cannot_write(change.path, error));
  if (digest_of_file(made.file.get()) != change.digest) {
    return give_up(
        fail(ErrorId::kChangesDamaged,
             fmt::format("what the program wrote to {} was changed since", printable(change.path)),
             {.fix = "discard the changes, and run the program again"}));
  }
  const bool modifies = change.kind == Change::Kind::kModified;
  int error = modifies ? give_back(made.file.get(), parent.get(), name) : 0;
  if (error == 0 && ::fchmod(made.file.get(), change.mode & 0777U) != 0) error = errno;
  if (error == 0 && ::fsync(made.file.get()) != 0) error = errno;
  if (error == 0) error = settle(parent, made, aside, name, modifies);
  if (error != 0) return give_up(cannot_write(change.path, error));
  return {};
}

}  // namespace

namespace {

namespace fs = std::filesystem;
using Kind = Change::Kind;

// A change and the open folders that it is about.
struct Task {
  const Change* change = nullptr;
  fs::path path;                        // absolute
  int place = -1;                       // the user's folder
  int upper = -1;                       // what the program left
  bool replaces = false;                // what the task before it deletes
  const Change* replaced_by = nullptr;  // of a deletion: what the task after it puts there
};

std::unexpected<Error> refuse(const Task& task, std::string why) {
  return fail(ErrorId::kChangesRefused,
              fmt::format("{} is not applied", printable(task.path.string())),
              {.why = std::move(why), .fix = "name the files to apply after the run's id"});
}

std::unexpected<Error> conflict(const Task& task, std::string why) {
  return fail(
      ErrorId::kChangesConflict,
      fmt::format("{} has changed on both sides", printable(task.path.string())),
      {.why = std::move(why),
       .fix = "look at it with `mcpac changes diff RUN`; discard the changes and run again, "
              "or name other files to apply"});
}

constexpr std::string_view kWouldBeRepository =
    "its folder would be a git repository, whose configuration names programs";

bool deletes(const Task& task) {
  return task.change->kind == Kind::kDeleted || task.change->kind == Kind::kFolderDeleted;
}

// What lies there now is what lay there when the run ended. A folder's own times change with what
// lies in it, so of folders only which one it is counts.
Result<void> check_state(const Task& task) {
  const Change& change = *task.change;
  const auto now = look_beneath(task.place, change.path);
  if (!change.before) {
    const bool made_by_us = change.kind == Kind::kFolderAdded && now && S_ISDIR(now->st_mode);
    if (now && !made_by_us) return conflict(task, "something lies there since");
    return {};
  }
  if (!now) return conflict(task, "it is gone");
  const FileState state = FileState::of(*now);
  const bool folder = S_ISDIR(now->st_mode);
  const bool same =
      folder ? state.device == change.before->device && state.inode == change.before->inode
             : state == *change.before;
  return same ? Result<void>() : conflict(task, "it was changed after the run");
}

// The file lies there as the program left it.
bool is_file_put(int place, const Change& change) {
  const auto now = look_beneath(place, change.path);
  const bool same = now && S_ISREG(now->st_mode) && !change.digest.empty() &&
                    static_cast<std::uint64_t>(now->st_size) == change.size &&
                    (now->st_mode & 0777U) == change.mode;
  if (!same) return false;
  const UniqueFd file = open_beneath(place, change.path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  return file && digest_of_file(file.get()) == change.digest;
}

// A deletion is done, too, where what takes its place lies there already: a folder for a file, or
// the new file for a folder.
bool is_deleted(const Task& task) {
  const auto now = look_beneath(task.place, task.change->path);
  if (!now) return true;
  if (task.replaced_by == nullptr) return false;
  if (task.change->kind == Kind::kDeleted)
    return task.replaced_by->kind == Kind::kFolderAdded && S_ISDIR(now->st_mode);
  return is_file_put(task.place, *task.replaced_by);
}

// As the program left it already: an apply that stopped halfway, or took a part, can be continued.
bool is_done(const Task& task) {
  const Kind kind = task.change->kind;
  if (kind == Kind::kDeleted || kind == Kind::kFolderDeleted) return is_deleted(task);
  return is_file_put(task.place, *task.change);
}

// Why it is never applied, whatever else is; empty: it may be.
std::string why_never(const Task& task, NewRepositories& repositories) {
  const Change& change = *task.change;
  if (change.kind == Kind::kRefused) return change.why;
  if (project::has_protected_name(change.path))
    return "the name is protected: what lies there runs later, or holds keys";
  const bool would_be = !deletes(task) && repositories.contain(task.place, change.path);
  return would_be ? std::string(kWouldBeRepository) : std::string();
}

// The fewest paths that name all tasks but those that are never applied: of a folder without any
// of them the folder.
std::set<fs::path> rest_of(const std::vector<Task>& tasks, const MayWrite& may_write,
                           NewRepositories& repositories) {
  std::set<fs::path> closed;  // what is never applied, and each folder above it
  for (const Task& task : tasks) {
    if (why_never(task, repositories).empty() && may_write(task.path)) continue;
    for (fs::path at = task.path; closed.insert(at).second && at.has_relative_path();)
      at = at.parent_path();
  }
  std::set<fs::path> rest;
  for (const Task& task : tasks) {
    if (closed.contains(task.path)) continue;
    fs::path at = task.path;
    while (!closed.contains(at.parent_path()) && at.has_relative_path()) at = at.parent_path();
    rest.insert(std::move(at));
  }
  return rest;
}

std::string fix_for_rest(const Changeset& changes, const std::set<fs::path>& rest) {
  constexpr std::size_t kMostPaths = 8;
  const std::string run = changes.run.substr(0, 13);
  if (rest.empty()) return fmt::format("nothing else is in it: mcpac changes discard {}", run);
  if (rest.size() > kMostPaths)
    return fmt::format(
        "name the files to apply after the run's id; `mcpac changes show {}` marks those that are "
        "not",
        run);
  std::string command = "mcpac changes apply " + run;
  for (const fs::path& path : rest) command += " " + shell_quoted(path.string());
  return fmt::format("the rest: {}", printable_in_place(command));
}

Result<void> check(const Task& task, const MayWrite& may_write, NewRepositories& repositories) {
  const Change& change = *task.change;
  if (auto why = why_never(task, repositories); !why.empty()) return refuse(task, std::move(why));
  if (auto admitted = may_write(task.path); !admitted) return refuse(task, admitted.error().what);
  if (is_done(task)) return {};
  if (change.moved_on) return conflict(task, "it was changed while the program ran");
  // What it replaces is itself a deletion, checked by itself.
  return task.replaces ? Result<void>() : check_state(task);
}

// Others write the folder, too, and run in turns with us where a part of a repository is added.
Result<UniqueFd> turn_for(const Task& task, const UniqueFd& parent, const std::string& name) {
  if (!is_repository_part(name)) return UniqueFd();
  auto turn = take_repository_turn(parent.get());
  if (!turn)
    return conflict(task, "its folder is locked: " + std::system_category().message(turn.error()));
  FoldingDevices devices;
  const fs::path at = task.path.parent_path();
  const bool folds = FoldingLook(parent.get(), at.native()).folds(devices);
  if (completes_repository(parent.get(), name,
                           folds ? NamesCompared::kFolded : NamesCompared::kAsWritten))
    return refuse(task, std::string(kWouldBeRepository));
  return std::move(*turn);
}

Result<void> perform(const Task& task) {
  if (is_done(task)) return {};
  const Change& change = *task.change;
  const fs::path path = change.path;
  const UniqueFd parent = open_beneath(task.place, path.parent_path(), O_RDONLY | O_DIRECTORY);
  if (!parent) return conflict(task, "its folder is gone, or a link");
  const std::string name = path.filename().string();
  auto turn = deletes(task) ? Result<UniqueFd>() : turn_for(task, parent, name);
  if (!turn) return pass_on(turn);
  const auto done = [&](int result) -> Result<void> {
    // With the names in the folder: the changeset is removed when all of it was applied.
    if (result == 0 && (::fsync(parent.get()) == 0 || errno == EINVAL)) return {};
    return fail(ErrorId::kFileUnwritable, fmt::format("{}: {}", printable(task.path.string()),
                                                      std::system_category().message(errno)));
  };
  switch (change.kind) {
    case Kind::kFolderAdded: {
      const int made = ::mkdirat(parent.get(), name.c_str(), (change.mode & 0777U) | 0700U);
      return made != 0 && errno == EEXIST ? check_state(task) : done(made);
    }
    case Kind::kDeleted:
      if (auto same = check_state(task); !same) return same;
      return done(::unlinkat(parent.get(), name.c_str(), 0));
    case Kind::kFolderDeleted: return done(::unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR));
    case Kind::kAdded:
    case Kind::kModified: break;
    case Kind::kRefused: return refuse(task, change.why);
  }
  const UniqueFd source = open_beneath(task.upper, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (auto same = check_state(task); !same) return same;
  auto put = put_file(source, parent, name, change);
  return put ? done(0) : put;
}

bool is_chosen(const fs::path& path, std::span<const fs::path> chosen) {
  return chosen.empty() || std::ranges::any_of(chosen, [&](const fs::path& wanted) {
           return project::lies_in(path, wanted);
         });
}

// A folder that was added comes with what is chosen in it.
bool is_needed(const Change& change, const fs::path& path, std::span<const fs::path> chosen) {
  if (is_chosen(path, chosen)) return true;
  return change.kind == Kind::kFolderAdded && std::ranges::any_of(chosen, [&](const auto& wanted) {
           return project::lies_in(wanted, path);
         });
}

struct Opened {
  UniqueFd place;
  UniqueFd upper;
};

Result<Opened> open_place_of(const Changeset& changes, std::size_t i) {
  const ChangedPlace& place = changes.places[i];
  constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Opened opened{open_folder(place.path), UniqueFd(::open(changes.upper(i).c_str(), kFolder))};
  struct stat info {};
  const bool same =
      opened.place && ::fstat(opened.place.get(), &info) == 0 &&
      place.identity == sandbox::FileIdentity{.device = info.st_dev, .inode = info.st_ino};
  if (!same) {
    return fail(ErrorId::kChangesConflict,
                fmt::format("{} is not the folder any more that the program worked on",
                            printable(place.path.string())),
                {.why = "it was moved or made anew since the run began",
                 .fix = "put it back, or discard the changes and run the program again"});
  }
  if (!opened.upper)
    return fail(
        ErrorId::kChangesDamaged, "the changes are not there any more",
        {.where = changes.upper(i).string(), .fix = "discard them, and run the program again"});
  return opened;
}

}  // namespace

Result<Applied> apply(const Changeset& changes, std::span<const fs::path> chosen,
                      const MayWrite& may_write) {
  auto turn = take_turn(changes);
  if (!turn) return pass_on(turn);
  std::vector<Opened> opened;
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < changes.places.size(); ++i) {
    auto place = open_place_of(changes, i);
    if (!place) return pass_on(place);
    opened.push_back(std::move(*place));
    for (const Change& change : changes.places[i].changes) {
      const fs::path path = changes.places[i].path / change.path;
      if (!is_needed(change, path, chosen)) continue;
      const bool replaces = !tasks.empty() && tasks.back().path == path && deletes(tasks.back());
      if (replaces) tasks.back().replaced_by = &change;
      tasks.push_back(
          {&change, path, opened.back().place.get(), opened.back().upper.get(), replaces, nullptr});
    }
  }
  NewRepositories repositories;
  for (const Task& task : tasks) repositories.add(task.place, *task.change);
  for (const Task& task : tasks) {
    auto held = check(task, may_write, repositories);
    if (held) continue;
    if (held.error().id == ErrorId::kChangesRefused)
      held.error().fix = fix_for_rest(changes, rest_of(tasks, may_write, repositories));
    return pass_on(held);
  }
  Applied applied;
  for (const Task& task : tasks) {
    if (auto done = perform(task); !done) {
      applied.error = std::move(done.error());
      break;
    }
    applied.done.push_back(task.path);
  }
  return applied;
}

std::vector<std::string> never_applied(const Changeset& changes, std::size_t place) {
  const auto opened = open_place_of(changes, place);
  std::vector<Task> tasks;
  for (const Change& change : changes.places[place].changes)
    tasks.push_back({&change, changes.places[place].path / change.path,
                     opened ? opened->place.get() : -1, -1, false, nullptr});
  NewRepositories repositories;
  for (const Task& task : tasks) {
    if (opened) repositories.add(task.place, *task.change);
  }
  std::vector<std::string> whys;
  for (const Task& task : tasks) whys.push_back(why_never(task, repositories));
  return whys;
}

bool is_applied(const Changeset& changes, std::size_t place, const Change& change) {
  const auto opened = open_place_of(changes, place);
  if (!opened) return false;
  if (change.kind == Kind::kFolderAdded) {
    const auto now = look_beneath(opened->place.get(), change.path);
    return now && S_ISDIR(now->st_mode);
  }
  return is_done({&change, changes.places[place].path / change.path, opened->place.get(),
                  opened->upper.get(), false, nullptr});
}

}  // namespace mcpac::history
