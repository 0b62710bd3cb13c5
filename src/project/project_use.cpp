// SPDX-License-Identifier: Apache-2.0

#include "project/project_use.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <tuple>

#include "core/clock.h"
#include "core/ids.h"
#include "project/project_state.h"

namespace mcpac::project {
namespace {

constexpr std::size_t kNumberSize = 36;  // of a UUID

constexpr char kKind[] = "uses";

// Of the whole file, and of this open file: another one of the same process is another holder.
struct flock whole_file(short kind) {
  struct flock lock {};
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

ProjectUse::ProjectUse(const Folders& folders, const std::filesystem::path& config_file)
    : file_(open_project_state(folders, kKind, config_file)) {
  if (!file_) return;
  // The lock first: a reader in between sees the one or the other.
  auto lock = whole_file(F_RDLCK);
  std::ignore = ::fcntl(file_.get(), F_OFD_SETLK, &lock);
  const std::string number = new_uuid_v7(SystemClock());
  std::ignore = ::pwrite(file_.get(), number.data(), number.size(), 0);
}

std::optional<std::string> ProjectUse::number_of_last(const Folders& folders,
                                                      const std::filesystem::path& config_file) {
  const UniqueFd file = open_project_state(folders, kKind, config_file);
  if (!file) return std::nullopt;
  std::array<char, kNumberSize> text{};
  const ssize_t n = ::pread(file.get(), text.data(), text.size(), 0);
  auto lock = whole_file(F_WRLCK);
  if (n < 0 || ::fcntl(file.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK)
    return std::nullopt;
  return std::string(text.data(), static_cast<std::size_t>(n));
}

}  // namespace mcpac::project
