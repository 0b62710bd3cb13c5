#include "execute/child/scratch_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/file.h"

namespace mcpac::execute {

Result<void> write_scratch(const std::filesystem::path& file, std::string_view bytes,
                           unsigned mode) {
  const UniqueFd fd(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  while (fd && !bytes.empty()) {
    const ssize_t n = ::write(fd.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  // As root the reader is another user, whatever our umask says.
  if (fd && bytes.empty() && ::fchmod(fd.get(), mode) == 0) return {};
  return fail(
      ErrorId::kFileUnwritable,
      fmt::format("cannot write {}: {}", file.string(), std::system_category().message(errno)),
      {.where = file.string()});
}

}  // namespace mcpac::execute
