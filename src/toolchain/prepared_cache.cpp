// SPDX-License-Identifier: Apache-2.0

#include "toolchain/prepared_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace mcpac::toolchain {
namespace {

namespace fs = std::filesystem;

UniqueFd open_folder(const fs::path& folder) {
  return UniqueFd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

enum class Lock { kTaken, kRefused, kNone };  // kNone: the file system has no such locks

// Without waiting.
Lock take_lock(const UniqueFd& folder, int kind) {
  while (::flock(folder.get(), kind | LOCK_NB) != 0) {
    if (errno != EINTR) return errno == EWOULDBLOCK ? Lock::kRefused : Lock::kNone;
  }
  return Lock::kTaken;
}

bool is_still_at(const fs::path& path, const UniqueFd& folder) {
  struct stat here {};
  struct stat there {};
  return ::fstat(folder.get(), &here) == 0 && ::stat(path.c_str(), &there) == 0 &&
         here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

// It is gone in one step, and what a killed process leaves of it is swept by its name: half of a
// folder is never taken for one.
void remove_unused(const fs::path& folder) {
  const UniqueFd opened = open_folder(folder);
  if (!opened || take_lock(opened, LOCK_EX) != Lock::kTaken) return;
  const auto doomed = TemporaryFolder::create(folder.parent_path(), "removing-");
  std::error_code ignored;
  if (doomed) fs::rename(folder, doomed->path() / folder.filename(), ignored);
}

void keep_newest(const fs::path& cache, std::string_view kind, std::size_t most) {
  std::vector<std::pair<fs::file_time_type, fs::path>> folders;
  std::error_code error;
  for (fs::directory_iterator at(cache, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const auto time = at->last_write_time(gone);
    if (!gone && at->path().filename().native().starts_with(kind))
      folders.emplace_back(time, at->path());
  }
  if (folders.size() <= most) return;
  std::ranges::sort(folders);
  folders.resize(folders.size() - most);
  for (const auto& [time, folder] : folders) remove_unused(folder);
}

}  // namespace

FolderUse use_folder(const fs::path& folder) {
  UniqueFd opened = open_folder(folder);
  // The remover has the lock first, or does not get it; afterwards another one may stand there.
  if (!opened || take_lock(opened, LOCK_SH) == Lock::kRefused || !is_still_at(folder, opened))
    return nullptr;
  ::futimens(opened.get(), nullptr);
  return std::make_shared<const UniqueFd>(std::move(opened));
}

void drop_the_oldest(const fs::path& cache, PreparedBounds bounds) {
  keep_newest(cache, "servers-", bounds.servers);
  keep_newest(cache, "runtime-", bounds.runtimes);
}

}  // namespace mcpac::toolchain
