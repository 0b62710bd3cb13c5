// SPDX-License-Identifier: Apache-2.0

#include "project/files/kernel_mounts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/file.h"
#include "project/files/open_place.h"

namespace mcpac::project {
namespace {

namespace fs = std::filesystem;

// Magic numbers of <linux/magic.h>, and the names in mountinfo.
constexpr auto kMagic = std::to_array<unsigned long>(
    {0x9fa0, 0x62656572, 0x64626720, 0x74726163, 0x1cd1, 0x27e0eb, 0x63677270, 0x73636673,
     0xcafe4a11, 0x6e736673, 0x19800202, 0x62656570, 0x6165676c, 0xde5e81e4, 0x42494e4d});
constexpr auto kKernelTypes = std::to_array<std::string_view>(
    {"proc", "sysfs", "debugfs", "tracefs", "devpts", "devtmpfs", "cgroup", "cgroup2", "securityfs",
     "bpf", "nsfs", "mqueue", "configfs", "pstore", "efivarfs", "binfmt_misc", "fusectl"});

// Types whose file systems ask a network or a process; those of the second begin so.
constexpr auto kAskingTypes = std::to_array<std::string_view>(
    {"autofs", "cifs", "9p", "afs", "ceph", "coda", "ncpfs", "lustre", "ocfs2", "gfs2"});
constexpr auto kAskingFamilies = std::to_array<std::string_view>({"nfs", "smb", "fuse"});
constexpr std::size_t kMostLinks = 40;  // as the kernel's

constexpr std::size_t kMostMountInfo = std::size_t{8} << 20U;

// A blank, tab, newline or backslash in a path is written as three octal digits (proc(5)).
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '\\' && i + 3 < text.size();
    if (!escaped) {
      plain += text[i];
      continue;
    }
    const auto digit = [&](std::size_t at) { return static_cast<unsigned>(text[at] - '0') & 7U; };
    plain += static_cast<char>(digit(i + 1) * 64U + digit(i + 2) * 8U + digit(i + 3));
    i += 3;
  }
  return plain;
}

// Absolute paths in a list of them; a backslash stands before a colon of a name
// (docs.kernel.org/filesystems/overlayfs).
void add_layers(std::string_view list, std::vector<std::string>& layers) {
  std::string one;
  const auto end = [&] {
    if (one.starts_with('/')) layers.push_back(one);
    one.clear();
  };
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '\\' && i + 1 < list.size()) {
      one += list[++i];
    } else if (list[i] == ':') {
      end();
    } else {
      one += list[i];
    }
  }
  end();
}

// Of its type, its source and the options of its file system.
std::vector<std::string> layers_of(std::string_view type, std::string_view source,
                                   std::string_view options) {
  constexpr auto kKeys =
      std::to_array<std::string_view>({"lowerdir=", "lowerdir+=", "datadir+=", "upperdir="});
  std::vector<std::string> layers;
  if (type == "overlay") {
    for (std::size_t at = 0; at < options.size();) {
      // A comma of a name has a backslash before it.
      std::size_t end = at;
      while (end < options.size() && options[end] != ',') end += options[end] == '\\' ? 2 : 1;
      const std::string_view option = options.substr(at, end - at);
      for (const std::string_view key : kKeys) {
        if (option.starts_with(key)) add_layers(option.substr(key.size()), layers);
      }
      at = end + 1;
    }
  } else if (type.starts_with("fuse") && type != "fuseblk") {
    add_layers(source, layers);
  }
  return layers;
}

// "36 35 98:0 /root /mount/point options … - type source options"
MountTable::Mount read_line(const std::string& line) {
  MountTable::Mount read;
  std::istringstream words(line);
  std::string word;
  words >> read.id >> word >> read.device >> word;
  read.root = unescape(word);
  words >> word;
  read.point = unescape(word);
  while (words >> word && word != "-") {
  }
  std::string source;
  words >> read.type >> source >> word;
  read.layers = layers_of(read.type, unescape(source), unescape(word));
  return read;
}

// One folder of a file system.
struct Source {
  std::string device;
  fs::path root;
  fs::path at;          // where it was seen
  bool is_seen = true;  // false: another mount lies over it there
};

// Whether both are the same file now; a mount may lie over what the table has there.
bool is_same(const fs::path& one, const fs::path& other) {
  struct stat first {};
  struct stat second {};
  return ::lstat(one.c_str(), &first) == 0 &&
         (::lstat(other.c_str(), &second) != 0 ||
          (first.st_dev == second.st_dev && first.st_ino == second.st_ino));
}

bool is_something(const fs::path& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

// The folder of a mount's layer, if it is there.
std::optional<sandbox::FileIdentity> layer_there(const std::string& layer) {
  struct stat info {};
  if (::stat(layer.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return std::nullopt;
  return sandbox::FileIdentity{.device = info.st_dev, .inode = info.st_ino};
}

// The mount it lies in: devtmpfs answers statfs as any tmpfs does. Nothing before Linux 5.8.
std::optional<std::uint64_t> mount_of(int place) {
  struct statx info {};
  if (place < 0 || ::statx(place, "", AT_EMPTY_PATH, STATX_MNT_ID, &info) != 0) return std::nullopt;
  return (info.stx_mask & STATX_MNT_ID) != 0 ? std::optional(info.stx_mnt_id) : std::nullopt;
}

}  // namespace

Result<std::string> kernel_mount_in(int place, const std::filesystem::path& path) {
  struct statfs info {};
  if (::fstatfs(place, &info) != 0)
    return fail(ErrorId::kFileUnreadable, "cannot tell the file system of " + path.string());
  if (std::ranges::find(kMagic, static_cast<unsigned long>(info.f_type)) != kMagic.end())
    return path.string();
  auto table = MountTable::read();
  if (!table) return pass_on(table);
  const auto around = table->around(path, place);
  for (const auto& mount : table->mounts_) {
    const bool is_kernel = std::ranges::find(kKernelTypes, mount.type) != kKernelTypes.end();
    if (is_kernel && (mount.id == around || lies_in(mount.point, path))) return mount.point;
  }
  return std::string();
}

Result<MountTable> MountTable::read() {
  auto text = read_file("/proc/self/mountinfo", kMostMountInfo);
  if (!text) return pass_on(text);
  return parse(*text);
}

MountTable MountTable::parse(const std::string& text) {
  MountTable table;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) table.mounts_.push_back(read_line(line));
  return table;
}

std::optional<std::uint64_t> MountTable::around(const fs::path& path, int place) const {
  const auto said = mount_of(place);
  if (said && std::ranges::find(mounts_, *said, &Mount::id) != mounts_.end()) return said;
  const Mount* found = nullptr;
  for (const Mount& mount : mounts_) {
    if (lies_in(path, mount.point) &&
        (found == nullptr || mount.point.size() >= found->point.size()))
      found = &mount;
  }
  return found == nullptr ? std::nullopt : std::optional(found->id);
}

// Of two mounts at one point the later lies over the other.
bool MountTable::answers_at_once(const fs::path& path) const {
  const Mount* over = nullptr;
  for (const Mount& mount : mounts_) {
    if (lies_in(path, mount.point) && (over == nullptr || mount.point.size() >= over->point.size()))
      over = &mount;
  }
  return over != nullptr && std::ranges::find(kAskingTypes, over->type) == kAskingTypes.end() &&
         std::ranges::none_of(kAskingFamilies, [&](std::string_view family) {
           return over->type.starts_with(family);
         });
}

MountTable::Reached MountTable::reach(const fs::path& path) const {
  fs::path at = "/";
  const fs::path below_root = path.relative_path();
  std::deque<fs::path> ahead(below_root.begin(), below_root.end());
  for (std::size_t links = 0; !ahead.empty();) {
    const fs::path name = std::move(ahead.front());
    ahead.pop_front();
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      at = at.parent_path();
      continue;
    }
    at /= name;
    struct stat info {};
    if (!answers_at_once(at)) return {.may_wait = true};
    if (::lstat(at.c_str(), &info) != 0) return {};
    if (!S_ISLNK(info.st_mode) || ahead.empty()) continue;
    std::error_code error;
    const fs::path target = fs::read_symlink(at, error);
    if (error || ++links > kMostLinks) return {};
    at = target.is_absolute() ? fs::path("/") : at.parent_path();
    const fs::path names = target.relative_path();
    ahead.insert(ahead.begin(), names.begin(), names.end());
  }
  return {.path = at};
}

std::vector<fs::path> MountTable::elsewhere(const fs::path& path) const {
  const UniqueFd place(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  const auto around = this->around(path, place.get());
  std::vector<Source> sources;
  for (const Mount& mount : mounts_) {
    if (lies_in(path, mount.point)) {
      const fs::path rest = path.lexically_relative(mount.point);
      sources.push_back({mount.device, rest == "." ? fs::path(mount.root) : mount.root / rest, path,
                         mount.id == around});
    }
    if (lies_in(mount.point, path) && mount.point != path) {
      const UniqueFd point(::open(mount.point.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
      const auto over = point ? mount_of(point.get()) : std::nullopt;
      sources.push_back({mount.device, mount.root, mount.point, !over || over == mount.id});
    }
  }
  std::vector<fs::path> found = by_layers(path);
  for (const Source& source : sources) {
    for (const Mount& mount : mounts_) {
      if (mount.device != source.device) continue;
      fs::path here = mount.point;  // of a part of it
      fs::path there = source.at;
      if (lies_in(source.root, mount.root)) {
        if (source.root != mount.root) here /= source.root.lexically_relative(mount.root);
      } else if (lies_in(mount.root, source.root)) {
        there /= fs::path(mount.root).lexically_relative(source.root);
      } else {
        continue;
      }
      if (lies_in(here, path) || std::ranges::find(found, here) != found.end()) continue;
      if (source.is_seen ? is_same(here, there) : is_something(here))
        found.push_back(std::move(here));
    }
  }
  return found;
}

std::vector<fs::path> MountTable::by_layers(const fs::path& path) const {
  std::vector<fs::path> found;
  struct stat info {};
  sandbox::FileIdentity identity;
  if (::lstat(path.c_str(), &info) == 0) identity = {.device = info.st_dev, .inode = info.st_ino};
  for (const Mount& mount : mounts_) {
    for (const std::string& layer : mount.layers) {
      fs::path here = mount.point;
      auto rest =
          lies_in(path, layer) ? std::optional(path.lexically_relative(layer)) : std::nullopt;
      const auto there = layer_there(layer);
      if (!rest && there) rest = rest_below(path, *there);
      if (rest) {
        const fs::path inside = (fs::path("/") / (*rest == "." ? fs::path() : *rest));
        if (lies_in(inside, mount.root)) {
          if (inside.has_relative_path() && inside != mount.root)
            here /= inside.lexically_relative(mount.root);
        } else if (!lies_in(mount.root, inside)) {
          continue;
        }
      } else if (!lies_in(layer, path) && !rest_below(layer, identity)) {
        continue;
      }
      if (!lies_in(here, path) && is_something(here)) found.push_back(std::move(here));
    }
  }
  return found;
}

bool MountTable::may_show_more(const fs::path& folder) const {
  return std::ranges::any_of(mounts_, [&](const Mount& mount) {
    if (mount.point != folder && lies_in(mount.point, folder)) return true;
    return lies_in(folder, mount.point) &&
           std::ranges::any_of(mount.layers, [](const std::string& layer) {
             return layer_there(layer).has_value();
           });
  });
}

}  // namespace mcpac::project
