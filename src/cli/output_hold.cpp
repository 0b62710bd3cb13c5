#include "cli/output_hold.h"

#include <utility>

namespace mcpac::cli {
namespace {

void put(std::FILE* to, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

}  // namespace

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

}  // namespace mcpac::cli
