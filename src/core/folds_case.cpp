// SPDX-License-Identifier: Apache-2.0

#include "core/folds_case.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/ascii.h"
#include "core/file.h"

namespace mcpac {
namespace {

// FS_CASEFOLD_FL, which older headers do not have.
constexpr long kCasefold = 0x40000000;

// Folders of these fold where they have the flag, and nowhere else.
constexpr auto kFoldByFlag = std::to_array<std::uint32_t>(
    {EXT4_SUPER_MAGIC, F2FS_SUPER_MAGIC, TMPFS_MAGIC, 0xca451a4e /* bcachefs */});
constexpr auto kNeverFold = std::to_array<std::uint32_t>(
    {BTRFS_SUPER_MAGIC, RAMFS_MAGIC, PROC_SUPER_MAGIC, SYSFS_MAGIC, SQUASHFS_MAGIC});
// Those of a server fold as it does, each folder by itself (Windows' do), so that no other tells.
// Neither here nor there: XFS, which is made to fold or not, and overlays, which do as their
// layers.
constexpr auto kFold = std::to_array<std::uint32_t>(
    {MSDOS_SUPER_MAGIC, EXFAT_SUPER_MAGIC, 0x5346544e /* NTFS */, 0x7366746e /* ntfs3 */,
     0x482b /* HFS+ */, 0x4858 /* HFSX */, 0x4244 /* HFS */, CIFS_SUPER_MAGIC, SMB2_SUPER_MAGIC,
     SMB_SUPER_MAGIC, 0x53464846 /* WSL */, V9FS_MAGIC});

bool has_letter(std::string_view name) {
  return std::ranges::any_of(name, is_letter);
}

std::string in_other_ascii_case(std::string_view name) {
  std::string other(name);
  for (char& c : other) {
    if (is_letter(c)) c = static_cast<char>(static_cast<unsigned char>(c) ^ 0x20U);
  }
  return other;
}

// Nothing: there is no such entry, or another stands under the other name.
std::optional<bool> opens_in_other_case(int from, const std::filesystem::path& folder,
                                        const std::string& name) {
  struct stat one {};
  struct stat other {};
  if (::fstatat(from, (folder / name).c_str(), &one, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  const std::string other_name = in_other_ascii_case(name);
  if (::fstatat(from, (folder / other_name).c_str(), &other, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? std::optional(false) : std::nullopt;
  if (one.st_dev == other.st_dev && one.st_ino == other.st_ino) return true;
  return std::nullopt;
}

bool folds_by_flag(int folder) {
  long flags = 0;
  if (::ioctl(folder, FS_IOC_GETFLAGS, &flags) == 0) return (flags & kCasefold) != 0;
  return errno != ENOTTY && errno != EOPNOTSUPP && errno != EINVAL;
}

std::string lettered_name_in(int folder) {
  constexpr int kMostAsked = 64;
  UniqueFd own(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(own ? ::fdopendir(own.get()) : nullptr,
                                                    &::closedir);
  if (!entries) return {};
  [[maybe_unused]] const int owned = own.release();
  for (int i = 0; i < kMostAsked; ++i) {
    const dirent* const entry = ::readdir(entries.get());
    if (entry == nullptr) break;
    if (has_letter(static_cast<const char*>(entry->d_name)))
      return static_cast<const char*>(entry->d_name);
  }
  return {};
}

// The folder asked for by its own name, or by that of one above it, where those lie on the same
// file system.
std::optional<bool> folds_above(const std::filesystem::path& folder, dev_t device) {
  constexpr int kMostLevels = 8;
  std::filesystem::path path = folder;
  for (int i = 0; i < kMostLevels && path.has_relative_path(); ++i, path = path.parent_path()) {
    struct stat above {};
    if (::lstat(path.parent_path().c_str(), &above) != 0 || above.st_dev != device) break;
    const std::string name = path.filename().string();
    if (!has_letter(name)) continue;
    if (const auto folds = opens_in_other_case(AT_FDCWD, path.parent_path(), name)) return folds;
  }
  return std::nullopt;
}

}  // namespace

bool folds_case(const std::filesystem::path& folder) {
  constexpr int kHow = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd handle(::open(folder.c_str(), O_RDONLY | kHow));
  if (!handle) handle = UniqueFd(::open(folder.c_str(), O_PATH | kHow));
  FoldingDevices known;
  return !handle || FoldingLook(handle.get(), folder.native()).folds(known);
}

void FoldingLook::add(std::string_view name) {
  if (name_.empty() && has_letter(name)) name_ = name;
}

bool FoldingLook::folds(FoldingDevices& known) const {
  struct statfs kind {};
  if (::fstatfs(folder_, &kind) != 0) return true;
  const auto type = static_cast<std::uint32_t>(kind.f_type);
  const auto is_of = [type](const auto& kinds) {
    return std::ranges::find(kinds, type) != kinds.end();
  };
  if (is_of(kFoldByFlag)) return folds_by_flag(folder_);
  if (is_of(kNeverFold)) return false;
  if (is_of(kFold)) return true;
  struct stat info {};
  if (::fstat(folder_, &info) != 0) return true;
  if (const auto at = known.find(info.st_dev); at != known.end()) return at->second;
  std::optional<bool> folds;
  if (!name_.empty()) folds = opens_in_other_case(folder_, {}, name_);
  if (!folds) folds = folds_above(at_, info.st_dev);
  if (!folds) {
    if (const auto name = lettered_name_in(folder_); !name.empty())
      folds = opens_in_other_case(folder_, {}, name);
  }
  if (!folds) return true;
  return known[info.st_dev] = *folds;
}

}  // namespace mcpac
