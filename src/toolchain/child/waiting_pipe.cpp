// SPDX-License-Identifier: Apache-2.0

#include "toolchain/child/waiting_pipe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace mcpac::toolchain {
namespace {

std::unexpected<Error> failed(std::string_view what, const std::string& where, int reason) {
  return fail(ErrorId::kFileUnwritable,
              fmt::format("{} {}: {}", what, where, std::system_category().message(reason)),
              {.where = where});
}

}  // namespace

Result<void> make_waiting_pipe(const std::filesystem::path& pipe) {
  // As root the reader is another user, whatever our umask says.
  constexpr mode_t kReadable = 0644;
  if (::mkfifo(pipe.c_str(), kReadable) == 0 && ::chmod(pipe.c_str(), kReadable) == 0) return {};
  return failed("cannot make", pipe.native(), errno);
}

WaitingPipe WaitingPipe::open(const std::filesystem::path& pipe) {
  // Without a reader this is ENXIO.
  return WaitingPipe(
      UniqueFd(::open(pipe.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)));
}

Result<void> WaitingPipe::say(std::string_view text) && {
  const UniqueFd writer = std::move(writer_);
  ssize_t written = 0;
  do {
    written = ::write(writer.get(), text.data(), text.size());
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(text.size())) return {};
  return failed("cannot write to", "a waiting tool", written < 0 ? errno : EAGAIN);
}

}  // namespace mcpac::toolchain
