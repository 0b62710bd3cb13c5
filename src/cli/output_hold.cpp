#include "cli/output_hold.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

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

void OutputHold::put(std::FILE* to, std::string_view text) {
  if (text.empty()) return;
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
  (to == stdout ? out_is_open_ : err_is_open_) = text.back() != '\n';
}

void OutputHold::write(std::FILE* to, std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (held_) {
    (to == stdout ? out_ : err_).append(text);
    return;
  }
  put(to, text);
}

void OutputHold::hold() {
  const std::lock_guard lock(mutex_);
  held_ = true;
}

void OutputHold::release() {
  const std::lock_guard lock(mutex_);
  held_ = false;
  put(stdout, std::exchange(out_, {}));
  put(stderr, std::exchange(err_, {}));
}

void OutputHold::end_line() {
  const std::lock_guard lock(mutex_);
  const bool shares = out_is_open_ && is_same_file(STDOUT_FILENO, STDERR_FILENO);
  if (err_is_open_ || shares) put(stderr, "\n");
  out_is_open_ = out_is_open_ && !shares;
}

}  // namespace mcpac::cli
