#include "cli/standard_output.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

namespace mcpac::cli {

static_assert(kNobodyReads == 128 + SIGPIPE);

namespace {

// The number of a write that failed may be long gone; that the reader is, stays.
bool has_no_reader(int descriptor) {
  pollfd pipe{descriptor, POLLOUT, 0};
  return ::poll(&pipe, 1, 0) > 0 && (pipe.revents & POLLERR) != 0;
}

}  // namespace

bool has_lost_output() {
  return std::ferror(stdout) != 0 || std::ferror(stderr) != 0;
}

void finish_output(Context& context) {
  errno = 0;
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (is_written) return;
  const int error = errno;
  const int code = context.exit_code;
  if (has_no_reader(STDOUT_FILENO)) {
    context.exit_code = kNobodyReads;
  } else {
    context.fail({ErrorId::kFileUnwritable, "standard output cannot be written", "standard output",
                  error == 0 ? "" : std::system_category().message(error),
                  "what the command printed is not whole; run it again"});
  }
  if (code != 0) context.exit_code = code;
}

}  // namespace mcpac::cli
