// SPDX-License-Identifier: Apache-2.0

#include "core/socket_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/file.h"

namespace mcpac {

Result<UniqueFd> open_socket_folder(const std::filesystem::path& folder, std::string_view what) {
  const auto refuse = [&](std::string_view why, std::string fix = "") {
    return fail(ErrorId::kFileUnwritable, fmt::format("{} cannot be used: {}", what, why),
                {.where = folder.string(),
                 .why = "it must be its user's alone (mode 0700)",
                 .fix = std::move(fix)});
  };
  const auto refuse_for = [&](int error) {
    return refuse(std::system_category().message(error), remedy_of(error, folder));
  };
  if (::mkdir(folder.c_str(), 0700) != 0 && errno == ENOENT) {
    // The first that fails is the reason; those below it only miss it.
    std::error_code above;
    std::filesystem::create_directories(folder.parent_path().parent_path(), above);
    int error = above.value();
    if (::mkdir(folder.parent_path().c_str(), 0700) != 0 && errno != EEXIST && error == 0)
      error = errno;
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
      return refuse_for(error != 0 ? error : errno);
  }
  UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) return refuse_for(errno);
  if (info.st_uid != ::geteuid()) return refuse("it belongs to another user");
  if ((info.st_mode & 077U) != 0) return refuse("others may enter it");
  return fd;
}

std::optional<sockaddr_un> socket_address(const UniqueFd& folder, std::string_view name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/{}", folder.get(), name);
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  std::ranges::copy(path, static_cast<char*>(address.sun_path));
  return address;
}

}  // namespace mcpac
