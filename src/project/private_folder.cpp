// SPDX-License-Identifier: Apache-2.0

#include "project/private_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>

#include "core/file.h"

namespace mcpac::project {

namespace fs = std::filesystem;

Result<void> make_private(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  std::error_code ignored;
  fs::permissions(folder, fs::perms(0700), ignored);
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return fail(ErrorId::kFileUnwritable,
                fmt::format("cannot use the cache folder {}", folder.string()),
                {.why = failed ? "it cannot be made: " + failed.message() : "it is no folder",
                 .fix = remedy_of(failed.value(), folder)});
  }
  if (info.st_uid != ::geteuid() || (info.st_mode & 077U) != 0) {
    return fail(ErrorId::kFileUnwritable,
                fmt::format("the cache folder {} is open to others", folder.string()),
                {.why = "what is built and run is trusted because it comes from there",
                 .fix = fmt::format("chmod 700 {}", folder.string())});
  }
  return {};
}

}  // namespace mcpac::project
