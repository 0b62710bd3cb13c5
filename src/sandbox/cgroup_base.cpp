// SPDX-License-Identifier: Apache-2.0

#include "sandbox/cgroup_base.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <ranges>
#include <string_view>
#include <vector>

#include "sandbox/cgroup_files.h"

namespace mcpac::sandbox::cgroup {
namespace {

std::unexpected<None> none(std::string why) {
  return std::unexpected(None{std::move(why), remedy()});
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (const auto part : std::views::split(line, ' ')) words.emplace_back(part.begin(), part.end());
  return words;
}

struct MountPoint {
  std::string root;  // which group lies there
  std::string place;
};

// "36 25 0:30 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw". A place with a blank in its name is
// written with a backslash, and does not occur. A mount of before this namespace shows "/..".
std::optional<MountPoint> find_mount() {
  const auto table = mcpac::read_file("/proc/self/mountinfo");
  if (!table) return std::nullopt;
  for (const auto part : std::views::split(*table, '\n')) {
    const std::string_view line(part.begin(), part.end());
    const auto words = words_of(line);
    constexpr std::size_t kRoot = 3;
    constexpr std::size_t kPlace = 4;
    if (words.size() <= kPlace || line.find(" - cgroup2 ") == std::string_view::npos) continue;
    if (line.find('\\') != std::string_view::npos || words[kRoot].starts_with("/..")) continue;
    return MountPoint{std::string(words[kRoot]), std::string(words[kPlace])};
  }
  return std::nullopt;
}

// "/user.slice/x.scope" of the line "0::/user.slice/x.scope".
std::optional<std::string> own_path() {
  const auto text = mcpac::read_file("/proc/self/cgroup");
  if (!text) return std::nullopt;
  constexpr std::string_view kStart = "0::";
  for (const auto part : std::views::split(*text, '\n')) {
    const std::string_view line(part.begin(), part.end());
    if (line.starts_with(kStart)) return std::string(line.substr(kStart.size()));
  }
  return std::nullopt;
}

bool has_systemd() {
  return ::access("/run/systemd/system", F_OK) == 0;
}

// Attribute that systemd sets on groups that it leaves to their units.
std::optional<bool> delegation_mark(int group) {
  for (const char* name : {"trusted.delegate", "user.delegate"}) {
    std::array<char, 8> value{};
    const ssize_t size = ::fgetxattr(group, name, value.data(), value.size());
    if (size > 0) return size == 1 && value.front() == '1';
  }
  return std::nullopt;
}

// What is set here holds for the processes in it, and not for those in a group beside it.
bool has_limits(int group) {
  constexpr std::string_view kNoLimit = "max";
  for (const char* file : {"memory.max", "memory.high", "memory.swap.max", "pids.max", "cpu.max"}) {
    const auto text = read(group, file);
    if (text && !text->starts_with(kNoLimit)) return true;
  }
  for (const char* file : {"cpuset.cpus", "cpuset.mems", "io.max"}) {
    const auto text = read(group, file);
    if (text && !text->empty() && *text != "\n") return true;
  }
  return false;
}

bool has_processes(int group) {
  const auto processes = read(group, "cgroup.procs");
  return !processes || !processes->empty();
}

std::string last_of(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

}  // namespace

std::string remedy() {
  if (!has_systemd())
    return "start mcpac alone in a control group that it may write, or in one below a group that "
           "passes +memory and +pids on (docs/limits.md)";
  return std::string("systemd-run ") + (::geteuid() == 0 ? "" : "--user ") +
         "--scope -p Delegate=yes mcpac …; for a whole shell, see docs/limits.md";
}

bool passes_on(int group) {
  return lists(group, "cgroup.subtree_control", {"memory", "pids"});
}

bool is_writable(int group) {
  for (const char* name : {".", "cgroup.procs", "cgroup.subtree_control"}) {
    if (::faccessat(group, name, W_OK, AT_EACCESS) != 0) return false;
  }
  return true;
}

bool is_machines_root(int group) {
  return ::faccessat(group, "cgroup.procs", F_OK, 0) == 0 &&
         ::faccessat(group, "cgroup.type", F_OK, 0) != 0;
}

// The user's own systemd writes no marks (seen up to version 257): what is the user's there is
// taken for delegated, but for the groups that only a systemd has.
bool is_delegated(int group, const std::string& name) {
  if (!has_systemd()) return true;
  if (name.ends_with(".slice") || name.starts_with("user@")) return false;
  if (const auto mark = delegation_mark(group)) return *mark;
  struct stat info {};
  return ::geteuid() != 0 && ::fstat(group, &info) == 0 && info.st_uid == ::geteuid();
}

std::expected<Own, None> find_own() {
  const auto mount = find_mount();
  if (!mount) return none("no cgroup2 is mounted");
  auto path = own_path();
  if (!path || path->starts_with("/..")) return none("the group of this process cannot be seen");
  // A container may have a part of the tree mounted, without a namespace of its own.
  if (mount->root != "/") {
    if (*path != mount->root && !path->starts_with(mount->root + "/"))
      return none("the group of this process is not mounted");
    path->erase(0, mount->root.size());
  }
  if (*path == "/") path->clear();
  Own own{mount->place, *path, open_folder(AT_FDCWD, mount->place + *path)};
  if (!own.folder) return none("the group of this process cannot be opened");
  return own;
}

std::expected<Base, None> find_base() {
  auto own = find_own();
  if (!own) return std::unexpected(own.error());
  const bool in_root = is_machines_root(own->folder.get());
  if (own->path.empty() && !in_root) return none("the group of mcpac has other processes");
  if (!in_root && has_limits(own->folder.get()))
    return none("the group of mcpac has limits, and other processes");
  const std::string path = own->path.substr(0, own->path.find_last_of('/'));
  Base base{in_root ? std::move(own->folder) : open_folder(own->folder.get(), ".."),
            own->mount + path};
  const int group = base.folder.get();
  if (group < 0 || !passes_on(group))
    return none(base.path + " does not pass memory and pids on to the groups below it");
  if (!is_machines_root(group) && has_processes(group)) return none(base.path + " has processes");
  if (!is_delegated(group, last_of(path))) return none(base.path + " is managed by systemd");
  if (!is_writable(group)) return none(base.path + " cannot be written");
  return base;
}

}  // namespace mcpac::sandbox::cgroup
