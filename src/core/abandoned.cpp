// SPDX-License-Identifier: Apache-2.0

#include "core/abandoned.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/file.h"
#include "core/hash.h"

namespace mcpac {
namespace {

constexpr std::string_view kStart = "at-";
constexpr std::size_t kPlaceLength = 8;
// A folder for temporary files may be full of foreign files: what lies beyond waits for a later
// sweep.
constexpr std::size_t kMostEntries = 50'000;

struct Owner {
  std::string place;
  pid_t pid = 0;
  std::uint64_t started = 0;  // clock ticks, field 22 of /proc/PID/stat
};

std::string link_text(const char* path) {
  std::array<char, PATH_MAX> text{};
  const ssize_t n = ::readlink(path, text.data(), text.size());
  return n <= 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(n));
}

// Process numbers and start times mean something within one boot and these namespaces only.
std::string own_place() {
  const auto boot = read_file("/proc/sys/kernel/random/boot_id", 100);
  const std::string processes = link_text("/proc/self/ns/pid");
  if (!boot || processes.empty()) return {};
  const std::string text = *boot + processes + link_text("/proc/self/ns/time");
  return sha256_hex(text).substr(0, kPlaceLength);
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

struct Status {
  char state = '?';
  std::uint64_t started = 0;
};

std::optional<Status> status_of(pid_t pid) {
  const auto text = read_file(fmt::format("/proc/{}/stat", pid), 4096);
  // "PID (NAME) STATE …": a name may have brackets and blanks.
  const auto name_end = text ? text->rfind(") ") : std::string::npos;
  if (name_end == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(*text).substr(name_end + 2);
  Status status{.state = rest.empty() ? '?' : rest.front(), .started = 0};
  constexpr int kFieldsBetween = 19;  // from the state, field 3, to the start time, field 22
  for (int i = 0; i < kFieldsBetween; ++i) {
    const auto blank = rest.find(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(blank + 1);
  }
  if (!read_number(rest.substr(0, rest.find(' ')), status.started)) return std::nullopt;
  return status;
}

std::optional<Owner> owner_of(std::string_view name) {
  const auto start = name.rfind(kStart);
  if (start == std::string_view::npos) return std::nullopt;
  std::string_view rest = name.substr(start + kStart.size());
  const auto end = rest.find('.');
  if (end == std::string_view::npos) return std::nullopt;
  rest = rest.substr(0, end);
  if (rest.size() < kPlaceLength + 4 || rest[kPlaceLength] != '-') return std::nullopt;
  Owner owner;
  owner.place = rest.substr(0, kPlaceLength);
  rest.remove_prefix(kPlaceLength + 1);
  const auto middle = rest.find('-');
  if (middle == std::string_view::npos || !read_number(rest.substr(0, middle), owner.pid) ||
      !read_number(rest.substr(middle + 1), owner.started) || owner.pid <= 0)
    return std::nullopt;
  return owner;
}

// In doubt it lives: a process that /proc hides from us still takes a signal, or refuses it.
bool is_dead(const Owner& owner) {
  if (::kill(owner.pid, 0) != 0 && errno == ESRCH) return true;
  const auto status = status_of(owner.pid);
  if (!status) return false;
  return status->started != owner.started || status->state == 'Z' || status->state == 'X';
}

// Elsewhere another user could exchange what a name means between our look and our removal.
bool is_safe(int folder) {
  struct stat info {};
  if (::fstat(folder, &info) != 0 || !S_ISDIR(info.st_mode)) return false;
  if (info.st_uid != ::geteuid() && info.st_uid != 0) return false;
  return (info.st_mode & (S_IWGRP | S_IWOTH)) == 0 || (info.st_mode & S_ISVTX) != 0;
}

// A folder below `above`, to be emptied. Its mode is changed by its descriptor, as the name may be
// another's by then.
UniqueFd open_to_empty(int above, const char* name) {
  constexpr int kFolder = O_DIRECTORY | O_CLOEXEC;
  const UniqueFd place(::openat(above, name, O_PATH | O_NOFOLLOW | kFolder));
  struct stat info {};
  if (!place || ::fstat(place.get(), &info) != 0) return {};
  if (info.st_uid == ::geteuid() && (info.st_mode & S_IRWXU) != S_IRWXU) {
    // fchmod(2) takes no descriptor of O_PATH.
    const std::string by_number = fmt::format("/proc/self/fd/{}", place.get());
    std::ignore = ::chmod(by_number.c_str(), (info.st_mode & 07777U) | S_IRWXU);
  }
  return UniqueFd(::openat(place.get(), ".", O_RDONLY | kFolder));
}

// Depth first. As many levels are open as a process may have files open beside others; the rest are
// found again by "..".
class TreeRemoval {
 public:
  bool all(int folder, const std::string& name) {
    if (::unlinkat(folder, name.c_str(), 0) == 0) return true;
    // Linux says EISDIR of a folder, and other file systems what POSIX has.
    if (errno != EISDIR && errno != EPERM) return errno == ENOENT;
    enter(folder, name);
    while (!levels_.empty() && !is_lost_) {
      auto& folders = levels_.back().folders;
      if (folders.empty()) {
        leave(folder);
      } else {
        const std::string inner = std::move(folders.back());
        folders.pop_back();
        enter(levels_.back().folder.get(), inner);
      }
    }
    return is_whole_;
  }

 private:
  static constexpr std::size_t kMostOpen = 8;
  struct Level {
    std::string name;
    dev_t device = 0;
    ino_t inode = 0;
    std::vector<std::string> folders{};  // in it, which are to be removed
    UniqueFd folder{};                   // of the last kMostOpen levels
  };

  void enter(int above, const std::string& name) {
    UniqueFd folder = open_to_empty(above, name.c_str());
    struct stat info {};
    if (!folder || ::fstat(folder.get(), &info) != 0) {
      is_whole_ = false;
      return;
    }
    levels_.push_back({.name = name, .device = info.st_dev, .inode = info.st_ino});
    empty(folder.get());
    levels_.back().folder = std::move(folder);
    if (levels_.size() > kMostOpen) levels_[levels_.size() - 1 - kMostOpen].folder.reset();
  }

  // All but its folders, which are noted.
  void empty(int folder) {
    const int listed = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(listed < 0 ? nullptr : ::fdopendir(listed),
                                                      ::closedir);
    if (!entries) {
      if (listed >= 0) ::close(listed);
      is_whole_ = false;
      return;
    }
    while (const dirent* entry = ::readdir(entries.get())) {
      const std::string_view name = static_cast<const char*>(entry->d_name);
      if (name == "." || name == "..") continue;
      struct stat info {};
      const bool is_folder = entry->d_type == DT_DIR ||
                             (entry->d_type == DT_UNKNOWN &&
                              ::fstatat(folder, name.data(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                              S_ISDIR(info.st_mode));
      if (is_folder) {
        levels_.back().folders.emplace_back(name);
      } else if (::unlinkat(folder, name.data(), 0) != 0 && errno != ENOENT) {
        is_whole_ = false;
      }
    }
  }

  // Removes the last level. One above that was moved meanwhile leads elsewhere: then no more is.
  void leave(int top) {
    const Level done = std::move(levels_.back());
    levels_.pop_back();
    if (levels_.empty()) return remove(top, done.name);
    Level& above = levels_.back();
    if (!above.folder) {
      UniqueFd folder(::openat(done.folder.get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      struct stat info {};
      is_lost_ = !folder || ::fstat(folder.get(), &info) != 0 || info.st_dev != above.device ||
                 info.st_ino != above.inode;
      if (is_lost_) {
        is_whole_ = false;
        return;
      }
      above.folder = std::move(folder);
    }
    remove(above.folder.get(), done.name);
  }

  void remove(int above, const std::string& name) {
    if (::unlinkat(above, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) is_whole_ = false;
  }

  std::vector<Level> levels_;
  bool is_whole_ = true;
  bool is_lost_ = false;
};

bool remove_one(int folder, const std::string& name) {
  struct stat info {};
  if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return false;
  if (info.st_uid != ::geteuid()) return false;
  const bool is_file = (S_ISREG(info.st_mode) && name.ends_with(".tmp")) ||
                       (S_ISSOCK(info.st_mode) && name.ends_with(".new"));
  if (is_file) return ::unlinkat(folder, name.c_str(), 0) == 0;
  if (!S_ISDIR(info.st_mode)) return false;
  return remove_tree(folder, name);
}

}  // namespace

std::string own_mark() {
  // Where /proc is another namespace's, its numbers are not ours.
  if (link_text("/proc/self") != std::to_string(::getpid())) return {};
  const std::string place = own_place();
  const auto status = status_of(::getpid());
  if (place.empty() || !status) return {};
  return fmt::format("{}{}-{}-{}", kStart, place, ::getpid(), status->started);
}

std::filesystem::path name_beside(const std::filesystem::path& target) {
  const std::string mark = own_mark();
  return fmt::format("{}{}{}.{:08x}.tmp", target.string(), mark.empty() ? "" : ".", mark,
                     ::randombytes_random());
}

std::vector<std::string> abandoned_in(int folder) {
  const auto ours = owner_of(own_mark() + ".");
  if (!ours) return {};
  const int listed = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(listed < 0 ? nullptr : ::fdopendir(listed),
                                                    ::closedir);
  if (!entries) {
    if (listed >= 0) ::close(listed);
    return {};
  }
  std::vector<std::string> dead;
  for (std::size_t i = 0; i < kMostEntries; ++i) {
    const dirent* entry = ::readdir(entries.get());
    if (entry == nullptr) break;
    const std::string_view name = static_cast<const char*>(entry->d_name);
    const auto owner = owner_of(name);
    if (owner && owner->place == ours->place && is_dead(*owner)) dead.emplace_back(name);
  }
  return dead;
}

bool remove_tree(int folder, const std::string& name) {
  return TreeRemoval().all(folder, name);
}

std::size_t sweep_abandoned(const std::filesystem::path& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || !is_safe(fd.get())) return 0;
  std::size_t removed = 0;
  for (const std::string& name : abandoned_in(fd.get()))
    removed += remove_one(fd.get(), name) ? 1 : 0;
  return removed;
}

}  // namespace mcpac
