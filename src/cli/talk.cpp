// SPDX-License-Identifier: Apache-2.0

#include "cli/talk.h"

#include <unistd.h>

#include <cstdio>

#include "toolchain/child/stage.h"

namespace mcpac::cli {
namespace {

// A pipe that is writable takes at least this much without blocking (POSIX, PIPE_BUF).
constexpr std::size_t kPiece = 4096;

}  // namespace

bool Talk::is_taken() {
  return !until_ || toolchain::wait_for_reader(STDERR_FILENO, {}, *until_);
}

void Talk::write(std::string_view text) {
  std::fflush(stdout);
  while (!text.empty() && is_taken()) {
    const std::string_view piece = until_ ? text.substr(0, kPiece) : text;
    std::fwrite(piece.data(), 1, piece.size(), stderr);
    text.remove_prefix(piece.size());
  }
}

}  // namespace mcpac::cli
