// SPDX-License-Identifier: Apache-2.0

// First byte: from the start of a program to the first byte of its standard output, and the bare
// `posix_spawn` that all such figures are held against.
//
// The machine sets the pace of all of them alike: a figure of a start says little without the bare
// one of the same run beside it.
#pragma once

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "core/file.h"

namespace mcpac::bench {

using Clock = std::chrono::steady_clock;

// A static program of C that says something at once: `kHello` are its words.
inline const std::vector<const char*> kHello = {MCPAC_BUILD_DIR "/tests/sandbox_hostile", "hello"};

struct Pipe {
  UniqueFd reader, writer;
};

inline Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

inline void first_byte(int fd) {
  char byte = 0;
  if (::read(fd, &byte, 1) == 1) return;
  fmt::print(stderr, "the program said nothing\n");
  std::exit(1);
}

inline double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// Microseconds of a program that nothing confines; `words` begin with its path.
inline double by_spawn(std::vector<const char*> words) {
  Pipe output = make_pipe();
  words.push_back(nullptr);
  const auto start = Clock::now();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, output.writer.get(), 1);
  pid_t pid = -1;
  char* none[] = {nullptr};
  auto* const arguments = const_cast<char**>(words.data());  // NOLINT: posix_spawn's old signature
  if (::posix_spawn(&pid, words.front(), &actions, nullptr, arguments, none) != 0) std::exit(1);
  ::posix_spawn_file_actions_destroy(&actions);
  output.writer.reset();  // a program that fails is an end, not a wait
  first_byte(output.reader.get());
  const double time = microseconds_since(start);
  ::waitpid(pid, nullptr, 0);
  return time;
}

// Median, 10th and 90th percentile, in microseconds.
inline void print_times(std::string_view name, std::vector<double> times) {
  std::ranges::sort(times);
  const auto at = [&times](std::size_t percent) {
    return times[(times.size() - 1) * percent / 100];
  };
  fmt::print("{:<44} median {:7.0f}  p10 {:7.0f}  p90 {:7.0f}\n", name, at(50), at(10), at(90));
}

}  // namespace mcpac::bench
