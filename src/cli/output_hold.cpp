// SPDX-License-Identifier: Apache-2.0

#include "cli/output_hold.h"

#include <sys/stat.h>
#include <unistd.h>

namespace mcpac::cli {
namespace {

// A terminal is one file however often it is opened as ours.
bool is_same_file(int first, int second) {
  struct stat a {};
  struct stat b {};
  return ::fstat(first, &a) == 0 && ::fstat(second, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

}  // namespace

void OutputHold::write(std::FILE* to, std::string_view text) {
  if (text.empty()) return;
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
  (to == stdout ? out_is_open_ : err_is_open_) = text.back() != '\n';
}

void OutputHold::end_line(Talk& talk) {
  const bool shares = out_is_open_ && is_same_file(STDOUT_FILENO, STDERR_FILENO);
  if (err_is_open_ || shares) talk.write("\n");
  err_is_open_ = false;
  out_is_open_ = out_is_open_ && !shares;
}

}  // namespace mcpac::cli
