// SPDX-License-Identifier: Apache-2.0

#include "cli/worker_choice.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/user_folders.h"

namespace mcpac::cli {
namespace {

// As words begin that decide otherwise. One that is something else's value (`-c --alone`) costs
// nothing but time.
constexpr std::array<std::string_view, 5> kDecisive = {"--alone", "--replay", "--config", "--help",
                                                       "-h"};

bool is_decisive(std::string_view word) {
  return std::ranges::any_of(kDecisive,
                             [&](std::string_view one) { return word.starts_with(one); });
}

}  // namespace

bool may_go_to_a_worker(std::span<const std::string> words) {
  if (words.empty() || (words.front() != "execute" && words.front() != "run")) return false;
  // What comes after it is the program's.
  const auto options = std::ranges::subrange(words.begin(), std::ranges::find(words, "--"));
  return std::ranges::none_of(options, is_decisive);
}

bool is_told_to_be_alone() {
  const std::string said = environment_variable("MCPAC_ALONE");
  return !said.empty() && said != "0";
}

UniqueFd open_terminal() {
  UniqueFd terminal(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (terminal && ::tcgetpgrp(terminal.get()) != ::getpgrp()) terminal.reset();
  return terminal;
}

bool has_terminal() {
  return ::isatty(STDIN_FILENO) != 0 || open_terminal();
}

}  // namespace mcpac::cli
