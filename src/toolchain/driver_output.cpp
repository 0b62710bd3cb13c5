// SPDX-License-Identifier: Apache-2.0

#include "toolchain/driver_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "core/file.h"

namespace mcpac::toolchain {
namespace {

// Runs a trusted program with an empty environment and returns what it wrote on standard error.
Result<std::string> standard_error_of(const std::filesystem::path& program,
                                      std::vector<std::string> words) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(ErrorId::kToolchainMissing, "cannot make a pipe");
  UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, writer.get(), 2);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  char* environment[] = {nullptr};
  pid_t pid = -1;
  const int error =
      ::posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environment);
  posix_spawn_file_actions_destroy(&actions);
  writer.reset();
  if (error != 0) {
    return fail(ErrorId::kToolchainMissing, fmt::format("cannot start {}", program.string()));
  }
  auto text = read_descriptor(reader.get(), "the clang driver", 1U << 20U);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

}  // namespace

std::vector<std::string> split_quoted(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t i = line.find('"'); i != std::string_view::npos; i = line.find('"', i)) {
    std::string word;
    for (++i; i < line.size() && line[i] != '"'; ++i) {
      if (line[i] == '\\' && i + 1 < line.size()) ++i;
      word += line[i];
    }
    ++i;
    words.push_back(std::move(word));
  }
  return words;
}

Result<std::vector<std::string>> ask(const std::filesystem::path& driver,
                                     const std::vector<std::string>& flags) {
  std::vector<std::string> words{driver.string(), "-###"};
  words.insert(words.end(), flags.begin(), flags.end());
  auto text = standard_error_of(driver, words);
  if (!text) return pass_on(text);
  std::string_view rest = *text;
  while (!rest.empty() && rest.back() == '\n') rest.remove_suffix(1);
  const auto last = rest.rfind('\n');
  auto command = split_quoted(last == std::string_view::npos ? rest : rest.substr(last + 1));
  if (command.size() < 3) {
    return fail(ErrorId::kToolchainMissing, "the clang driver gave no command",
                {.why = std::string(rest.substr(0, 400))});
  }
  return command;
}

}  // namespace mcpac::toolchain
