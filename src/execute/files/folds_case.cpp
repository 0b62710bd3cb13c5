#include "execute/files/folds_case.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/ascii.h"

namespace mcpac::execute {
namespace {

// FS_CASEFOLD_FL, which older headers do not have.
constexpr long kCasefold = 0x40000000;

// Folders of these fold where they have the flag, and nowhere else. Not XFS, which can be made to.
constexpr auto kFoldByFlag = std::to_array<unsigned long>(
    {EXT4_SUPER_MAGIC, F2FS_SUPER_MAGIC, TMPFS_MAGIC, BTRFS_SUPER_MAGIC, RAMFS_MAGIC});
constexpr auto kFold = std::to_array<unsigned long>({MSDOS_SUPER_MAGIC, EXFAT_SUPER_MAGIC});

bool has_letter(std::string_view name) {
  return std::ranges::any_of(name, is_letter);
}

std::string other_case(std::string_view name) {
  std::string other(name);
  for (char& c : other) {
    if (is_letter(c)) c = static_cast<char>(static_cast<unsigned char>(c) ^ 0x20U);
  }
  return other;
}

// Nothing: there is no such entry.
std::optional<bool> is_same(int from, const std::filesystem::path& folder,
                            const std::string& name) {
  struct stat one {};
  struct stat other {};
  if (::fstatat(from, (folder / name).c_str(), &one, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return ::fstatat(from, (folder / other_case(name)).c_str(), &other, AT_SYMLINK_NOFOLLOW) == 0 &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

}  // namespace

void FoldingLook::add(std::string_view name) {
  if (name_.empty() && has_letter(name)) name_ = name;
}

bool FoldingLook::folds(FoldingDevices& known) const {
  struct statfs kind {};
  struct stat info {};
  if (::fstatfs(folder_, &kind) != 0 || ::fstat(folder_, &info) != 0) return true;
  const auto type = static_cast<unsigned long>(kind.f_type);
  if (std::ranges::find(kFoldByFlag, type) != kFoldByFlag.end()) {
    long flags = 0;
    return ::ioctl(folder_, FS_IOC_GETFLAGS, &flags) == 0 && (flags & kCasefold) != 0;
  }
  if (std::ranges::find(kFold, type) != kFold.end()) return true;
  if (const auto at = known.find(info.st_dev); at != known.end()) return at->second;
  if (!name_.empty()) {
    if (const auto same = is_same(folder_, {}, name_)) return known[info.st_dev] = *same;
  }
  // An empty folder can be asked for by its own name, or by that of one above it, where those lie
  // on the same file system.
  for (std::filesystem::path path = at_; path.has_relative_path(); path = path.parent_path()) {
    struct stat above {};
    if (::lstat(path.parent_path().c_str(), &above) != 0 || above.st_dev != info.st_dev) break;
    const std::string name = path.filename().string();
    if (!has_letter(name)) continue;
    const auto same = is_same(AT_FDCWD, path.parent_path(), name);
    if (same) return known[info.st_dev] = *same;
  }
  return true;
}

}  // namespace mcpac::execute
