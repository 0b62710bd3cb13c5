// SPDX-License-Identifier: Apache-2.0

#include "core/write_all.h"

#include <unistd.h>

#include <cerrno>

namespace mcpac {

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    if (n == 0) return EIO;  // no file that we write to says so; a loop must end all the same
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

}  // namespace mcpac
