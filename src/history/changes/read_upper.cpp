// SPDX-License-Identifier: Apache-2.0

#include "history/changes/read_upper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <climits>
#include <filesystem>
#include <string>
#include <utility>

#include "core/file.h"
#include "core/printable.h"
#include "history/changes/folder_access.h"

namespace mcpac::history {
namespace {

// TreeFolder: a folder of a tree that is walked, open only while it is looked at.
//
// A tree can be deeper than a process may have files open. So the walk closes a folder while it is
// below it, and opens it anew afterwards: by its path below the root, and only if it is still the
// same. Owns its descriptor, borrows the root's. Not thread-safe.
class TreeFolder {
 public:
  explicit TreeFolder(int root);
  // A folder in this one; has_been_opened() tells whether it could be.
  [[nodiscard]] TreeFolder below(const std::string& name);
  [[nodiscard]] bool has_been_opened() const { return identity_.st_ino != 0; }
  // -1 where it is not there any more, or another lies there.
  [[nodiscard]] int get();
  void rest() { open_.reset(); }

 private:
  TreeFolder(int root, std::filesystem::path path, UniqueFd open);
  int root_;
  std::filesystem::path path_;  // below the root
  UniqueFd open_;
  struct stat identity_ {};
};

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

TreeFolder::TreeFolder(int root) : TreeFolder(root, {}, open_beneath(root, {}, kFolder)) {}

TreeFolder::TreeFolder(int root, std::filesystem::path path, UniqueFd open)
    : root_(root), path_(std::move(path)), open_(std::move(open)) {
  if (open_ && ::fstat(open_.get(), &identity_) != 0) identity_ = {};
}

TreeFolder TreeFolder::below(const std::string& name) {
  return {root_, path_ / name, open_beneath(get(), name, kFolder)};
}

int TreeFolder::get() {
  if (open_ || !has_been_opened()) return open_.get();
  UniqueFd again = open_deep(root_, path_, kFolder);
  struct stat now {};
  const bool same = again && ::fstat(again.get(), &now) == 0 && now.st_ino == identity_.st_ino &&
                    now.st_dev == identity_.st_dev;
  if (same) open_ = std::move(again);
  return open_.get();
}

}  // namespace

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDeepestUpper = 256;
// So many levels stay open at once, in two trees; what lies above deeper ones rests meanwhile.
constexpr std::size_t kKeptOpen = 16;
// What is applied is opened by its path below the place, which the kernel takes up to PATH_MAX.
constexpr std::size_t kLongestPath = PATH_MAX - 256;
// Of all together: with twice that for what JSON escapes a record stays below what is read of one.
constexpr std::size_t kMostPathBytes = std::size_t{16} << 20U;
constexpr std::size_t kLongestRefused = 1'000;
constexpr int kFile = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

bool is_whiteout(const struct stat& info) {
  return S_ISCHR(info.st_mode) && info.st_rdev == makedev(0, 0);
}

bool has_mark(int file, const char* name) {
  std::array<char, 8> value{};
  return ::fgetxattr(file, name, value.data(), value.size()) >= 0 || errno == ERANGE;
}

bool is_opaque(int folder) {
  std::array<char, 8> value{};
  return ::fgetxattr(folder, "user.overlay.opaque", value.data(), value.size()) == 1 &&
         value[0] == 'y';
}

// Others never write what a program left, unless they could before: `before` are the permissions of
// what lay there, 0 where there was nothing.
std::uint32_t kept_mode(std::uint32_t left, std::uint32_t before, std::uint32_t mask) {
  return left & 0777U & ~(mask & ~before);
}

// The user's umask, which always includes writing by others here.
std::uint32_t new_file_mask() {
  constexpr std::uint32_t kWritingByOthers = 022;
  return own_umask() | kWritingByOthers;
}

struct Entry {
  std::string name;
  fs::path path;
  std::optional<struct stat> upper;
  std::optional<struct stat> lower;
};

class Reader {
 public:
  explicit Reader(std::int64_t started) : started_(started) {}

  // `lower` is null where there is none.
  Result<void> merge(TreeFolder& upper, TreeFolder* lower, const fs::path& at, bool opaque,
                     std::size_t depth) {
    auto names = names_in(upper.get(), kMostChanges);
    if (!names || depth > kDeepestUpper) return too_much();
    for (const std::string& name : *names) {
      if (upper.get() < 0 || (lower != nullptr && lower->get() < 0)) return moved(at);
      const Entry entry{name, at / name, look_beneath(upper.get(), name),
                        lower == nullptr ? std::nullopt : look_beneath(lower->get(), name)};
      if (!entry.upper) continue;
      if (auto done = one(upper, lower, entry, opaque, depth); !done) return done;
    }
    if (!opaque || lower == nullptr) return {};
    const auto below = names_in(lower->get(), kMostChanges);
    if (!below) return too_much();
    for (const std::string& name : *below) {
      if (std::ranges::binary_search(*names, name)) continue;
      if (lower->get() < 0) return moved(at);
      const Entry entry{name, at / name, std::nullopt, look_beneath(lower->get(), name)};
      if (auto done = gone(*lower, entry, depth); !done) return done;
    }
    return {};
  }

  std::vector<Change> changes;

 private:
  static std::unexpected<Error> too_much() {
    return fail(
        ErrorId::kChangesLimit,
        fmt::format(
            "the program changed more than {} files, or folders too deep, or under names too "
            "long for a record",
            kMostChanges));
  }

  static std::unexpected<Error> moved(const fs::path& at) {
    return fail(ErrorId::kChangesConflict,
                fmt::format("{} was replaced while its changes were read", printable(at.string())));
  }

  Result<void> add(Change change) {
    path_bytes_ += change.path.size();
    if (changes.size() == kMostChanges || path_bytes_ > kMostPathBytes) return too_much();
    changes.push_back(std::move(change));
    return {};
  }

  Change change_of(Change::Kind kind, const Entry& entry) const {
    Change change;
    change.kind = kind;
    change.path = entry.path.string();
    if (!entry.lower) return change;
    change.before = FileState::of(*entry.lower);
    change.moved_on = !S_ISDIR(entry.lower->st_mode) && change.before->changed >= started_;
    return change;
  }

  Result<void> refuse(const Entry& entry, std::string why) {
    Change change = change_of(Change::Kind::kRefused, entry);
    // In place, so that it stays a path: nothing vanishes, and what was a name is still one.
    const bool is_long = change.path.size() > kLongestRefused;
    change.path = printable_in_place(change.path.substr(0, kLongestRefused)) + (is_long ? "…" : "");
    change.why = std::move(why);
    return add(std::move(change));
  }

  static std::string_view unusable(const Entry& entry) {
    if (printable_prose(entry.name, 4'000) != entry.name)
      return "a name with characters that are not shown";
    return entry.path.native().size() > kLongestPath ? "a path that is too long" : "";
  }

  Result<void> one(TreeFolder& upper, TreeFolder* lower, const Entry& entry, bool opaque,
                   std::size_t depth) {
    if (const auto why = unusable(entry); !why.empty()) return refuse(entry, std::string(why));
    if (is_whiteout(*entry.upper)) return entry.lower ? gone(*lower, entry, depth) : Result<void>();
    if (S_ISDIR(entry.upper->st_mode)) return folder(upper, lower, entry, opaque, depth);
    if (!S_ISREG(entry.upper->st_mode))
      return refuse(entry, S_ISLNK(entry.upper->st_mode) ? "a link" : "a special file");
    return file(upper, lower, entry, depth);
  }

  Result<void> file(TreeFolder& upper, TreeFolder* lower, const Entry& entry, std::size_t depth) {
    const UniqueFd opened(open_beneath(upper.get(), entry.name, kFile));
    if (!opened) return refuse(entry, "it cannot be read");
    if (has_mark(opened.get(), "user.overlay.metacopy") ||
        has_mark(opened.get(), "user.overlay.redirect"))
      return refuse(entry, "content that lies elsewhere");
    auto digest = digest_of_file(opened.get());
    if (!digest) return refuse(entry, "it cannot be read");
    const bool replaces_folder = entry.lower && S_ISDIR(entry.lower->st_mode);
    if (replaces_folder) {
      if (auto done = gone(*lower, entry, depth); !done) return done;
    }
    const bool modifies = entry.lower && !replaces_folder;
    Change change = change_of(modifies ? Change::Kind::kModified : Change::Kind::kAdded, entry);
    if (replaces_folder) change.before.reset();
    if (modifies && !S_ISREG(entry.lower->st_mode))
      return refuse(entry, "it takes the place of a link or special file");
    change.size = static_cast<std::uint64_t>(entry.upper->st_size);
    change.mode = kept_mode(entry.upper->st_mode, modifies ? entry.lower->st_mode : 0, mask_);
    change.digest = std::move(*digest);
    if (modifies && is_same(lower->get(), entry, change)) return {};
    return add(std::move(change));
  }

  // Opened for writing and left as it was: the kernel has copied it all the same.
  static bool is_same(int lower, const Entry& entry, const Change& change) {
    if (change.before->size != change.size || (change.before->mode & 0777U) != change.mode)
      return false;
    const UniqueFd opened(open_beneath(lower, entry.name, kFile));
    return opened && digest_of_file(opened.get()) == change.digest;
  }

  Result<void> folder(TreeFolder& upper, TreeFolder* lower, const Entry& entry, bool opaque,
                      std::size_t depth) {
    TreeFolder inner = upper.below(entry.name);
    if (!inner.has_been_opened()) return refuse(entry, "it cannot be read");
    const bool inner_opaque = opaque || is_opaque(inner.get());
    if (has_mark(inner.get(), "user.overlay.redirect"))
      return refuse(entry, "content that lies elsewhere");
    std::optional<TreeFolder> below;
    if (entry.lower && S_ISDIR(entry.lower->st_mode)) {
      below = lower->below(entry.name);
      if (!below->has_been_opened()) return refuse(entry, "the folder below it cannot be read");
    } else {
      if (entry.lower) {
        if (auto done = gone(*lower, entry, depth); !done) return done;
      }
      Change change = change_of(Change::Kind::kFolderAdded, entry);
      change.before.reset();
      change.moved_on = false;
      change.mode = kept_mode(entry.upper->st_mode, 0, mask_);
      if (auto done = add(std::move(change)); !done) return done;
    }
    if (depth >= kKeptOpen) {
      upper.rest();
      if (lower != nullptr) lower->rest();
    }
    return merge(inner, below ? &*below : nullptr, entry.path, inner_opaque, depth + 1);
  }

  // Files that the program deleted, one by one: a person sees each, and each is held against its
  // state.
  Result<void> gone(TreeFolder& lower, const Entry& entry, std::size_t depth) {
    if (!entry.lower) return {};
    if (const auto why = unusable(entry); !why.empty()) return refuse(entry, std::string(why));
    if (!S_ISDIR(entry.lower->st_mode)) return add(change_of(Change::Kind::kDeleted, entry));
    TreeFolder inner = lower.below(entry.name);
    const auto names = names_in(inner.get(), kMostChanges);
    if (!names || depth > kDeepestUpper) return refuse(entry, "the folder below it cannot be read");
    if (depth >= kKeptOpen) lower.rest();
    for (const std::string& name : *names) {
      if (inner.get() < 0) return moved(entry.path);
      const Entry below{name, entry.path / name, std::nullopt, look_beneath(inner.get(), name)};
      if (auto done = gone(inner, below, depth + 1); !done) return done;
    }
    return add(change_of(Change::Kind::kFolderDeleted, entry));
  }

  std::int64_t started_;
  std::uint32_t mask_ = new_file_mask();
  std::size_t path_bytes_ = 0;
};

}  // namespace

Result<std::vector<Change>> read_upper(int upper, int lower, std::int64_t started) {
  Reader reader(started);
  TreeFolder top(upper);
  TreeFolder below(lower);
  if (!below.has_been_opened()) {
    return fail(ErrorId::kChangesConflict, "the folder below the changes cannot be read");
  }
  if (auto done = reader.merge(top, &below, {}, is_opaque(upper), 0); !done) return pass_on(done);
  return std::move(reader.changes);
}

}  // namespace mcpac::history
