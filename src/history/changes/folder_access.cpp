// SPDX-License-Identifier: Apache-2.0

#include "history/changes/folder_access.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sodium.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <memory>
#include <tuple>

#include "core/hash.h"

namespace mcpac::history {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 16U;
constexpr std::size_t kMostNames = 1'000'000;
// A program can make folders deeper than we can have files open: what lies deeper is moved up
// first.
constexpr std::size_t kDeepestAccess = 64;

UniqueFd open_resolved(int root, const std::filesystem::path& path, int flags,
                       std::uint64_t resolve) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC;
  how.resolve = resolve | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return UniqueFd(static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
}

// To the top of the tree that is removed, under a name that could not be laid there before.
bool move_up(int folder, const std::string& name, int top) {
  const std::string moved = ".mcpac-moved-" + std::to_string(::randombytes_random());
  return ::renameat2(folder, name.c_str(), top, moved.c_str(), RENAME_NOREPLACE) == 0;
}

bool remove_entries(int top, int folder, std::size_t depth) {
  const auto names = names_in(folder, kMostNames);
  if (!names) return false;
  for (const std::string& name : *names) {
    if (::unlinkat(folder, name.c_str(), 0) == 0) continue;
    if (errno != EISDIR && errno != EPERM) return false;
    // A work folder of the kernel's has no mode at all; what cannot be given one is not opened
    // below.
    std::ignore = ::fchmodat(folder, name.c_str(), 0700, AT_SYMLINK_NOFOLLOW);
    if (depth == kDeepestAccess) {
      if (!move_up(folder, name, top)) return false;
      continue;
    }
    const UniqueFd inner(
        ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!inner || !remove_entries(top, inner.get(), depth + 1)) return false;
    if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) != 0) return false;
  }
  return true;
}

}  // namespace

UniqueFd open_folder(const std::filesystem::path& path) {
  return open_resolved(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
}

UniqueFd open_beneath(int root, const std::filesystem::path& path, int flags) {
  return open_resolved(root, path.empty() ? "." : path, flags, RESOLVE_BENEATH | RESOLVE_NO_XDEV);
}

UniqueFd open_deep(int root, const std::filesystem::path& path, int flags) {
  constexpr std::size_t kMostAtOnce = PATH_MAX / 2;
  UniqueFd reached;
  const auto from = [&] { return reached ? reached.get() : root; };
  std::filesystem::path piece;
  for (const auto& name : path) {
    if (piece.native().size() + name.native().size() > kMostAtOnce) {
      reached = open_beneath(from(), piece, O_PATH | O_DIRECTORY);
      if (!reached) return {};
      piece.clear();
    }
    piece /= name;
  }
  return open_beneath(from(), piece, flags);
}

std::optional<struct stat> look_beneath(int root, const std::filesystem::path& path) {
  const UniqueFd parent = open_beneath(root, path.parent_path(), O_PATH | O_DIRECTORY);
  struct stat info {};
  if (!parent || ::fstatat(parent.get(), path.filename().c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    return std::nullopt;
  return info;
}

bool each_name(int folder, const std::function<bool(const char*)>& take) {
  UniqueFd own(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!own) return false;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(own.get()), ::closedir);
  if (!entries) return false;
  static_cast<void>(own.release());  // the stream closes it
  while (const dirent* entry = ::readdir(entries.get())) {
    const auto* const name = static_cast<const char*>(entry->d_name);
    if (std::string_view(name) == "." || std::string_view(name) == "..") continue;
    if (!take(name)) return false;
  }
  return true;
}

std::optional<std::vector<std::string>> names_in(int folder, std::size_t most) {
  std::vector<std::string> names;
  const bool all = each_name(folder, [&](const char* name) {
    if (names.size() == most) return false;
    names.emplace_back(name);
    return true;
  });
  if (!all) return std::nullopt;
  std::ranges::sort(names);
  return names;
}

std::optional<std::string> digest_of_file(int file) {
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  std::array<unsigned char, kPiece> piece{};
  off_t at = 0;
  for (;;) {
    const ssize_t size = ::pread(file, piece.data(), piece.size(), at);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return std::nullopt;
    if (size == 0) break;
    crypto_hash_sha256_update(&state, piece.data(), static_cast<unsigned long long>(size));
    at += size;
  }
  Sha256 digest{};
  crypto_hash_sha256_final(&state, digest.data());
  return to_hex(digest);
}

bool remove_tree(int parent, const std::string& name) {
  const UniqueFd folder(
      ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return errno == ENOENT;
  while (remove_entries(folder.get(), folder.get(), 0)) {
    if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0) return true;
    if (errno != ENOTEMPTY && errno != EEXIST) return false;  // else: something was moved up
  }
  return false;
}

}  // namespace mcpac::history
