// SPDX-License-Identifier: Apache-2.0

#include "toolchain/child/scratch_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/file.h"
#include "core/write_all.h"

namespace mcpac::toolchain {
namespace {

std::unexpected<Error> failed(const char* what, const std::filesystem::path& where) {
  return fail(
      ErrorId::kFileUnwritable,
      fmt::format("cannot {} {}: {}", what, where.string(), std::system_category().message(errno)),
      {.where = where.string()});
}

// The folders between the two, from the outermost on.
Result<void> make_way(const std::filesystem::path& folder, const std::filesystem::path& below) {
  std::filesystem::path at = folder;
  for (const auto& part : below) {
    at /= part;
    std::error_code error;
    if (std::filesystem::is_directory(at, error)) continue;
    if (auto made = make_scratch_folder(at, 0755); !made) return made;
  }
  return {};
}

}  // namespace

Result<void> write_scratch(const std::filesystem::path& file, std::string_view bytes,
                           unsigned mode) {
  const UniqueFd fd(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  const int error = fd ? write_all(fd.get(), bytes) : errno;
  // As root the reader is another user, whatever our umask says.
  if (error == 0 && ::fchmod(fd.get(), mode) == 0) return {};
  if (error != 0) errno = error;
  return failed("write", file);
}

Result<void> make_scratch_folder(const std::filesystem::path& folder, unsigned mode) {
  if (::mkdir(folder.c_str(), mode) == 0 && ::chmod(folder.c_str(), mode) == 0) return {};
  return failed("make", folder);
}

Result<void> write_scratch_files(const std::filesystem::path& folder,
                                 const std::map<std::string, std::string>& files) {
  for (const auto& [name, bytes] : files) {
    const std::filesystem::path below(name);
    if (auto made = make_way(folder, below.parent_path()); !made) return made;
    if (auto written = write_scratch(folder / below, bytes, 0444); !written) return written;
  }
  return {};
}

}  // namespace mcpac::toolchain
