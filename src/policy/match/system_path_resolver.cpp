// SPDX-License-Identifier: Apache-2.0

#include "policy/match/system_path_resolver.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unicase.h>
#include <unistd.h>
#include <unistr.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>

#include "core/file.h"
#include "core/folds_case.h"
#include "policy/match/path_value.h"
#include "policy/text/source_text.h"

namespace mcpac::policy {
namespace {

constexpr int kMaxLinks = 40;  // what Linux itself follows (path_resolution(7))
constexpr std::size_t kMaxSteps = 10'000;

// In steps of work: of a call to the kernel, a microsecond or less; of a name that is taken as it
// stands; of an entry of a folder that is read.
constexpr std::size_t kWorkOfCall = 200;
constexpr std::size_t kWorkOfName = 20;
constexpr std::size_t kWorkOfEntry = 40;
// Of an entry whose path is held against a pattern.
constexpr std::size_t kWorkOfMeaning = 160;

// False: there is not so much left.
bool spend(Work* work, std::size_t steps) {
  if (work == nullptr) return true;
  const bool suffices = work->suffices_for(steps);
  work->spend(steps);
  return suffices;
}

std::unexpected<Error> refuse(std::string_view what) {
  return fail(ErrorId::kFileUnreadable, std::string(what));
}

std::unexpected<Error> refuse_more() {
  return refuse("it takes too long to see where the path leads");
}

UniqueFd open_step(int folder, const std::string& name) {
  return UniqueFd(::openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
}

// The target of an open link; an empty text is an error.
std::string read_link(int link) {
  std::array<char, PATH_MAX> target;
  const auto length = ::readlinkat(link, "", target.data(), target.size());
  if (length <= 0 || static_cast<std::size_t>(length) == target.size()) return {};
  return {target.data(), static_cast<std::size_t>(length)};
}

// Links of /proc are of the process that asks: where they lead here says nothing of a server.
bool is_in_proc(int entry) {
  struct statfs status {};
  return ::fstatfs(entry, &status) != 0 || status.f_type == PROC_SUPER_MAGIC;
}

// Whether another text can be canonically equivalent to this name. Of ASCII three characters are
// what others turn into in form C: the signs for kelvin, the Greek question mark, the grave accent.
bool has_equivalents(std::string_view name) {
  return std::ranges::any_of(name, [](char c) {
    return static_cast<unsigned char>(c) >= 0x80 || c == 'K' || c == ';' || c == '`';
  });
}

// The same name in the other case: capitals where it has none. Empty where there is no other.
std::string in_other_case(const std::string& name) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(name.data());
  if (u8_check(bytes, name.size()) != nullptr) return {};
  for (const auto change : {&u8_toupper, &u8_tolower}) {
    std::size_t length = 0;
    const std::unique_ptr<std::uint8_t, decltype(&std::free)> changed(
        change(bytes, name.size(), nullptr, nullptr, nullptr, &length), &std::free);
    if (!changed) return {};
    std::string other(reinterpret_cast<const char*>(changed.get()), length);
    if (other != name) return other;
  }
  return {};
}

// An entry by its name below an open folder, or by a whole path (folder AT_FDCWD); links are not
// followed. Nothing for what is not there or not to be seen.
struct Entry {
  FileId id;
  std::uint32_t mode = 0;
};
std::optional<Entry> entry_at(int folder, const std::string& name) {
  struct statx found {};
  constexpr int kHow = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
  if (::statx(folder, name.c_str(), kHow, STATX_TYPE | STATX_INO, &found) != 0) return std::nullopt;
  return Entry{{makedev(found.stx_dev_major, found.stx_dev_minor), found.stx_ino}, found.stx_mode};
}

// The name that the folder has for an entry which it opened by this name: the same, where the
// folder has it. Nothing where the folder cannot be read, not to its end, or does not list it.
std::optional<std::string> own_name(const std::string& folder, const std::string& name,
                                    const FileId& id, Work* work) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), &::closedir);
  if (!entries) return std::nullopt;
  std::string own;
  errno = 0;
  while (const dirent* entry = ::readdir(entries.get())) {
    if (entry->d_name == name) return name;
    if (!spend(work, kWorkOfEntry)) return std::nullopt;
    // Some file systems number their entries otherwise in a list, and so are mounted folders.
    const bool is_it = entry->d_ino == id.inode || entry->d_type == DT_DIR ||
                       in_other_case(entry->d_name) == in_other_case(name);
    if (is_it && !spend(work, kWorkOfCall)) return std::nullopt;
    if (is_it) {
      const auto found = entry_at(::dirfd(entries.get()), entry->d_name);
      if (found && found->id == id) own = entry->d_name;
    }
    errno = 0;
  }
  if (errno != 0 || own.empty()) return std::nullopt;
  return own;
}

// What stands at a path without links, step by step. It is asked by whole paths, which takes a call
// a step and no descriptors.
class Sight {
 public:
  Sight(PathResolver::Names names, Work* work)
      : wants_own_(names == PathResolver::Names::kOwn), work_(work) {}

  // A link was met, or a name is missing that the folder may have in other bytes: only a walk can
  // tell where the path leads.
  [[nodiscard]] bool needs_walk() const { return needs_walk_; }

  Result<Sighting> of(const Components& components) {
    const auto root = entry_at(AT_FDCWD, "/");
    if (!root) return refuse("the root folder cannot be opened");
    seen_.steps.push_back(root->id);
    seen_.kind = Sighting::Kind::kFolder;
    for (const auto& name : components) {
      if (auto done = step(name); !done) return pass_on(done);
    }
    std::optional<bool> folds;
    return finished(folds);
  }

  Result<Sighting> in(const Sighting& folder, const std::string& name, std::optional<bool>& folds) {
    seen_ = folder;
    seen_.folds = false;
    existing_ = path_ = folder.path == "/" ? "" : folder.path;
    if (auto done = step(name); !done) return pass_on(done);
    return finished(folds);
  }

 private:
  // `folds`: of the folder that is there, where it is known, or then.
  Result<Sighting> finished(std::optional<bool>& folds) {
    if (wants_own_ && seen_.kind == Sighting::Kind::kMissing) {
      if (!folded_ && !folds) folds = folds_case(existing_.empty() ? "/" : existing_);
      seen_.folds = folded_ || *folds;
    }
    seen_.path = path_.empty() ? "/" : path_;
    return std::move(seen_);
  }

  Result<void> step(const std::string& name) {
    if (!spend(work_, kWorkOfName)) return refuse_more();
    if (seen_.kind == Sighting::Kind::kMissing) {
      path_ += "/" + name;
      return {};
    }
    if (!spend(work_, kWorkOfCall)) return refuse_more();
    const auto entry = entry_at(AT_FDCWD, existing_ + "/" + name);
    if (!entry) {
      if (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG)
        return refuse("a component of the path cannot be read");
      needs_walk_ = has_equivalents(name);
      seen_.kind = Sighting::Kind::kMissing;
      path_ += "/" + name;
      return {};
    }
    if (S_ISLNK(entry->mode)) {
      needs_walk_ = true;
      return refuse("a component of the path has become a link");
    }
    std::string own = name;
    if (const auto other = wants_own_ ? in_other_case(name) : ""; !other.empty()) {
      if (!spend(work_, kWorkOfCall)) return refuse_more();
      const auto same = entry_at(AT_FDCWD, existing_ + "/" + other);
      if (same && same->id == entry->id) {
        folded_ = true;
        auto found = own_name(existing_.empty() ? "/" : existing_, name, entry->id, work_);
        if (!found) return refuse("a folder that folds case cannot be read");
        own = std::move(*found);
      }
    }
    existing_ += "/" + name;
    path_ += "/" + own;
    seen_.steps.push_back(entry->id);
    seen_.kind = S_ISDIR(entry->mode) ? Sighting::Kind::kFolder : Sighting::Kind::kFile;
    return {};
  }

  bool wants_own_;
  Work* work_;
  bool needs_walk_ = false;
  Sighting seen_;
  std::string existing_;  // as it was asked for
  std::string path_;      // by own names
  bool folded_ = false;
};

// Whether the folder holds an entry that is this name in other bytes, which some servers open in
// its place; a folder that cannot be read, or not to its end, may.
bool holds_equivalent(int folder, const std::string& name, Work* work) {
  UniqueFd handle(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!handle) return errno != ENOTDIR;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(handle.get()), &::closedir);
  if (!entries) return true;
  [[maybe_unused]] const int owned = handle.release();
  const std::string wanted = nfc(name);
  errno = 0;
  while (const dirent* entry = ::readdir(entries.get())) {
    if (entry->d_name != name && nfc(entry->d_name) == wanted) return true;
    if (!spend(work, kWorkOfEntry)) return true;
    errno = 0;
  }
  return errno != 0;
}

// Whether the path exists without a link in it: the kernel looks at all components at once
// (openat2(2)), which most paths pass; a decision that has to walk takes four times as long
// (bench/policy_bench.cpp). A no says nothing: a link, a name that is missing, a kernel without the
// call.
bool exists_without_links(const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const UniqueFd found(
      static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
  return static_cast<bool>(found);
}

bool goes_up(const Components& components) {
  return std::ranges::find(components, "..") != components.end();
}

enum class Bounds : std::uint8_t { kNone, kBeneath };

// One component to walk; those that came out of a link must exist.
struct Step {
  std::string name;
  bool from_link = false;
};

class Walk {
 public:
  Walk(Bounds bounds, Work* work) : bounds_(bounds), work_(work) {}

  // Enters the base, which was resolved before and must hold no link any more.
  Result<void> enter(const Components& base) {
    if (auto done = start(); !done) return done;
    for (const auto& name : base) {
      if (auto done = step({name, false}); !done) return done;
      if (links_ > 0) return refuse("the base of the test has become a link");
    }
    floor_ = place_.size();
    return {};
  }

  Result<std::string> run(const Components& components) {
    if (handles_.empty()) {
      if (auto done = start(); !done) return pass_on(done);
    }
    for (const auto& name : components) pending_.push_back({name, false});
    for (std::size_t steps = 0; !pending_.empty(); ++steps) {
      if (steps > kMaxSteps) return refuse("the path has too many components");
      const Step next = std::move(pending_.front());
      pending_.pop_front();
      if (auto done = step(next); !done) return pass_on(done);
    }
    return join(place_);
  }

 private:
  Result<void> start() {
    handles_.push_back(UniqueFd(::open("/", O_PATH | O_CLOEXEC)));
    if (!handles_.back()) return refuse("the root folder cannot be opened");
    return {};
  }

  Result<void> step(const Step& next) {
    if (!spend(work_, kWorkOfName)) return refuse_more();
    if (next.name == "..") return up();
    if (missing_) {
      if (next.from_link) return refuse("a link leads to nothing");
      place_.push_back(next.name);
      return {};
    }
    if (!spend(work_, 3 * kWorkOfCall)) return refuse_more();
    UniqueFd entry = open_step(handles_.back().get(), next.name);
    if (!entry) return not_there(next, errno);
    struct stat status {};
    if (::fstat(entry.get(), &status) != 0) return refuse("a component of the path cannot be read");
    if (S_ISLNK(status.st_mode)) return follow(entry.get());
    place_.push_back(next.name);
    handles_.push_back(std::move(entry));
    return {};
  }

  // A name that no file can have (too long, below a file) is missing like any other.
  Result<void> not_there(const Step& next, int error) {
    if (error != ENOENT && error != ENOTDIR && error != ENAMETOOLONG) {
      return refuse("a component of the path cannot be read");
    }
    if (next.from_link) return refuse("a link leads to nothing");
    if (has_equivalents(next.name) && holds_equivalent(handles_.back().get(), next.name, work_))
      return refuse("the folder has this name in other bytes (Unicode normal forms)");
    missing_ = true;
    place_.push_back(next.name);
    return {};
  }

  Result<void> up() {
    if (place_.size() <= floor_) {
      if (bounds_ == Bounds::kBeneath) return refuse("the path leaves the base");
      return {};  // ".." of "/" is "/"
    }
    // Behind a missing name Linux finds nothing, but servers that tidy the text first go on: so do
    // we.
    place_.pop_back();
    if (handles_.size() > place_.size() + 1) handles_.pop_back();
    missing_ = place_.size() + 1 > handles_.size();
    return {};
  }

  Result<void> follow(int link) {
    if (is_in_proc(link)) return refuse("a link of /proc leads elsewhere in every process");
    if (++links_ > kMaxLinks) return refuse("too many links");
    const std::string target = read_link(link);
    if (target.empty()) return refuse("a link cannot be read");
    if (!spend(work_, 2 * kWorkOfCall + target.size())) return refuse_more();
    if (target.front() == '/') {
      if (bounds_ == Bounds::kBeneath) return refuse("a link with an absolute target");
      place_.clear();
      handles_.erase(handles_.begin() + 1, handles_.end());
    }
    const Components names = split(target);
    for (auto name = names.rbegin(); name != names.rend(); ++name)
      pending_.push_front({*name, true});
    return {};
  }

  Bounds bounds_;
  Work* work_;
  std::size_t floor_ = 0;
  Components place_;
  std::vector<UniqueFd> handles_;  // the root and one for every component of place_ that exists
  std::deque<Step> pending_;
  int links_ = 0;
  bool missing_ = false;
};

// All entries below a folder, links not followed.
class Descent {
 public:
  Descent(const SystemPathResolver& resolver, std::string folder,
          const PathResolver::IsMeant& is_meant, Work* work)
      : resolver_(resolver), top_(std::move(folder)), is_meant_(is_meant), work_(work) {}

  Result<bool> finds() { return finds_in(top_, 0); }

 private:
  Result<bool> finds_in(const std::string& folder, int depth) {
    constexpr int kDeepest = 64;
    if (depth > kDeepest || !spend(work_, kWorkOfCall)) return refuse_more();
    std::vector<std::string> folders;
    auto found = finds_listed(folder, folders);
    if (!found || *found) return found;
    for (const auto& next : folders) {
      found = finds_in(next, depth + 1);
      if (!found || *found) return found;
    }
    return false;
  }

  Result<bool> finds_listed(const std::string& folder, std::vector<std::string>& folders) {
    UniqueFd handle(
        ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!handle) return refuse("a folder cannot be read");
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(handle.get()), &::closedir);
    if (!entries) return refuse("a folder cannot be read");
    [[maybe_unused]] const int owned = handle.release();
    errno = 0;
    while (const dirent* entry = ::readdir(entries.get())) {
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (++count_ > kMostEntries || !spend(work_, kWorkOfMeaning)) return refuse_more();
      std::string path = (folder == "/" ? "" : folder) + "/" + name;
      if (is_meant_(path)) return true;
      auto type = entry->d_type;
      if (type == DT_UNKNOWN) {
        const auto seen = entry_at(::dirfd(entries.get()), name);
        if (!seen) return refuse("an entry cannot be read");
        type = S_ISDIR(seen->mode) ? DT_DIR : S_ISLNK(seen->mode) ? DT_LNK : DT_REG;
      }
      if (type == DT_LNK && leads_to_meant(path)) return true;
      if (type == DT_DIR) folders.push_back(std::move(path));
      errno = 0;
    }
    if (errno != 0) return refuse("a folder cannot be read");
    return false;
  }

  [[nodiscard]] bool leads_to_meant(const std::string& link) const {
    const auto seen = resolver_.look(link, PathResolver::Names::kAsked, work_);
    if (!seen || seen->kind == Sighting::Kind::kMissing) return false;  // leads to nothing
    const bool is_inside = begins_with(split(seen->path), split(top_));
    return is_meant_(seen->path) || (seen->kind != Sighting::Kind::kFile && !is_inside);
  }

  static constexpr std::size_t kMostEntries = 10'000;

  const SystemPathResolver& resolver_;
  std::string top_;
  const PathResolver::IsMeant& is_meant_;
  Work* work_;
  std::size_t count_ = 0;
};

}  // namespace

Result<std::string> SystemPathResolver::resolve(std::string_view path, Work* work) const {
  if (path.empty() || path.front() != '/') return refuse("the path is not absolute");
  if (!spend(work, 2 * kWorkOfCall + path.size())) return refuse_more();
  const Components components = split(path);
  if (!goes_up(components)) {
    std::string plain = join(components);
    if (exists_without_links(plain)) return plain;
  }
  return Walk(Bounds::kNone, work).run(components);
}

Result<Sighting> SystemPathResolver::look(std::string_view path, Names names, Work* work) const {
  if (path.empty() || path.front() != '/') return refuse("the path is not absolute");
  if (!spend(work, path.size())) return refuse_more();
  if (const Components components = split(path); !goes_up(components)) {
    Sight plain(names, work);
    auto seen = plain.of(components);
    if (!plain.needs_walk()) return seen;
  }
  auto real = resolve(path, work);
  if (!real) return pass_on(real);
  return Sight(names, work).of(split(*real));
}

Result<Sighting> SystemPathResolver::look_in(const Sighting& folder, const std::string& name,
                                             Names names, std::optional<bool>& folds,
                                             Work* work) const {
  if (!spend(work, folder.path.size() + name.size())) return refuse_more();
  Sight plain(names, work);
  auto seen = plain.in(folder, name, folds);
  if (!plain.needs_walk()) return seen;
  return look((folder.path == "/" ? "" : folder.path) + "/" + name, names, work);
}

Result<std::string> SystemPathResolver::resolve_beneath(std::string_view base,
                                                        const std::vector<std::string>& components,
                                                        Work* work) const {
  const Components floor = split(base);
  Components whole = floor;
  whole.insert(whole.end(), components.begin(), components.end());
  std::string plain = join(whole);
  if (!spend(work, 2 * kWorkOfCall + plain.size())) return refuse_more();
  if (!goes_up(components) && exists_without_links(plain)) return plain;
  Walk walk(Bounds::kBeneath, work);
  if (auto entered = walk.enter(floor); !entered) return pass_on(entered);
  return walk.run(components);
}

Result<bool> SystemPathResolver::holds(std::string_view folder, std::string_view /*meaning*/,
                                       const IsMeant& is_meant, Work* work) const {
  if (folder.empty() || folder.front() != '/') return refuse("the path is not absolute");
  return Descent(*this, join(split(folder)), is_meant, work).finds();
}

}  // namespace mcpac::policy
