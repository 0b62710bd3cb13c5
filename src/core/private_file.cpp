// SPDX-License-Identifier: Apache-2.0

#include "core/private_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

namespace mcpac {
namespace {

// Others have it for the time of one file. Any user who may read the folder could have it for ever,
// and must not stop what waits here (a run's loop among it).
constexpr auto kPatience = std::chrono::seconds(5);

std::unexpected<Error> not_locked(const std::filesystem::path& folder, std::string_view what,
                                  int error) {
  return fail(ErrorId::kFileUnwritable,
              fmt::format("{} cannot be locked, and are left as they are: {}", what,
                          std::system_category().message(error)),
              {.where = folder.string(), .fix = "make that folder one that you may read and lock"});
}

bool may_pass(int error) {
  switch (error) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EIO:
    case ENOBUFS:
    case EAGAIN:
    case ESTALE:
    case ETIMEDOUT: return true;
    default: return false;
  }
}

}  // namespace

Result<std::optional<std::string>> read_private_file(const std::filesystem::path& file,
                                                     std::size_t max_bytes, bool* is_passing) {
  const auto unreadable = [is_passing](int error, Error why) {
    if (is_passing != nullptr) *is_passing = may_pass(error);
    return std::unexpected(std::move(why));
  };
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd && errno == ENOENT) return std::nullopt;
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) {
    const int error = errno;
    return unreadable(
        error, fail(ErrorId::kFileUnreadable, std::system_category().message(error)).error());
  }
  if (!S_ISREG(info.st_mode)) return fail(ErrorId::kFileUnreadable, "it is no regular file");
  if (info.st_uid != ::geteuid())
    return fail(ErrorId::kFileUnreadable, "it belongs to another user");
  if ((info.st_mode & 077U) != 0)
    return fail(ErrorId::kFileUnreadable, "others may read or write it (chmod 600 it)");
  errno = 0;  // one that is too long is no error of the kernel
  auto text = read_descriptor(fd.get(), file.string(), max_bytes);
  if (!text) return unreadable(errno, std::move(text.error()));
  return std::optional(std::move(*text));
}

Result<UniqueFd> take_turn(const std::filesystem::path& folder, std::string_view what) {
  std::error_code ignored;
  std::filesystem::create_directories(folder.parent_path(), ignored);
  const bool made = ::mkdir(folder.c_str(), 0700) == 0;
  if (!made && errno != EEXIST)
    return fail(ErrorId::kFileUnwritable, fmt::format("cannot make {}", folder.string()));
  if (const int error = made ? sync_folder(folder.parent_path()) : 0; error != 0) {
    ::rmdir(folder.c_str());  // else the next one would find it, and not sync its name
    return fail(ErrorId::kFileUnwritable, fmt::format("cannot make {}: {}", folder.string(),
                                                      std::system_category().message(error)));
  }
  UniqueFd turn(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!turn) return not_locked(folder, what, errno);
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (::flock(turn.get(), LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    const bool is_taken = error == EWOULDBLOCK || error == EINTR;
    if (!is_taken || std::chrono::steady_clock::now() > give_up)
      return not_locked(folder, what, error);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return turn;
}

}  // namespace mcpac
