#include "execute/files/kernel_mounts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string_view>

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
  if (::statx(place, "", AT_EMPTY_PATH, STATX_MNT_ID, &info) != 0) return std::nullopt;
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
  const auto around = mount_of(place);
  for (const auto& mount : table->mounts_) {
    const bool is_kernel = std::ranges::find(kKernelTypes, mount.type) != kKernelTypes.end();
    if (is_kernel && (mount.id == around || lies_in(mount.point, path))) return mount.point;
  }
  return std::string();
}

Result<MountTable> MountTable::read() {
  auto text = read_file("/proc/self/mountinfo", kMostMountInfo);
  if (!text) return pass_on(text);
  MountTable table;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) table.mounts_.push_back(read_line(line));
  return table;
}

std::vector<fs::path> MountTable::elsewhere(const fs::path& path) const {
  const UniqueFd place(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  const auto around = place ? mount_of(place.get()) : std::nullopt;
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
