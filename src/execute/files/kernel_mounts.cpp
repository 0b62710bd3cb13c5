#include "execute/files/kernel_mounts.h"

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
#include "execute/files/open_place.h"

namespace mcpac::execute {
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
  words >> read.type;
  return read;
}

// One folder of a file system.
struct Source {
  std::string device;
  fs::path root;
  fs::path at;  // where it was seen
};

// Whether both are the same file now; a mount may lie over what the table has there.
bool is_same(const fs::path& one, const fs::path& other) {
  struct stat first {};
  struct stat second {};
  return ::lstat(one.c_str(), &first) == 0 &&
         (::lstat(other.c_str(), &second) != 0 ||
          (first.st_dev == second.st_dev && first.st_ino == second.st_ino));
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
    if (mount.id == around && lies_in(path, mount.point)) {
      const fs::path rest = path.lexically_relative(mount.point);
      sources.push_back(
          {mount.device, rest == "." ? fs::path(mount.root) : mount.root / rest, path});
    }
    if (lies_in(mount.point, path)) sources.push_back({mount.device, mount.root, mount.point});
  }
  std::vector<fs::path> found;
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
      if (!lies_in(here, path) && is_same(here, there)) found.push_back(std::move(here));
    }
  }
  return found;
}

}  // namespace mcpac::execute
