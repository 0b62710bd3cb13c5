// Spawn to first byte: what the sandbox costs on top of starting the same static program bare.
//
// Method: the ways are interleaved (one start of each a round, so that a busy machine hurts all
// alike), time runs from the call that starts the program to the first byte of its standard output
// in the parent. Printed: median, 10th and 90th percentile in microseconds. Usage: bench_sandbox
// [ROUNDS].
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "core/file.h"
#include "sandbox/sandbox.h"

namespace {

using namespace mcpac;
using Clock = std::chrono::steady_clock;

const char* const kProgram = MCPAC_BUILD_DIR "/tests/sandbox_hostile";

struct Pipe {
  UniqueFd reader, writer;
};

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void first_byte(int fd) {
  char byte = 0;
  if (::read(fd, &byte, 1) != 1) {
    fmt::print(stderr, "the program said nothing\n");
    std::exit(1);
  }
}

double since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double by_spawn(std::vector<const char*> words) {
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
  const double time = since(start);
  ::waitpid(pid, nullptr, 0);
  return time;
}

double by_warden(sandbox::Warden& warden) {
  Pipe output = make_pipe();
  sandbox::Spec spec;
  spec.program = kProgram;
  spec.arguments = {"hostile", "hello"};
  spec.limits.memory = std::uint64_t{256} << 20U;
  spec.limits.cpu = std::chrono::seconds(10);
  spec.standard_output = output.writer.get();
  const auto start = Clock::now();
  auto child = warden.spawn(spec);
  if (!child) {
    fmt::print(stderr, "{}\n", child.error().to_text());
    std::exit(1);
  }
  first_byte(output.reader.get());
  const double time = since(start);
  if (!child->wait()) std::exit(1);
  return time;
}

// The program of this name in PATH; empty where there is none.
std::string in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    const std::string found = fmt::format("{}/{}", rest.substr(0, end), name);
    if (found.starts_with('/') && ::access(found.c_str(), X_OK) == 0) return found;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

struct Other {
  const char* name;
  std::vector<const char*> words;  // behind the program itself
};

// What others offer for the same: nothing of the machine but the program, no network, no processes
// of others. firejail has no way to show one file only: its own namespaces and no profile.
const std::vector<Other> kOthers = {
    {"bwrap",
     {"--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--ro-bind", kProgram,
      "/program", "/program", "hello"}},
    {"firejail", {"--quiet", "--noprofile", "--net=none", "--private-dev", kProgram, "hello"}},
    {"node", {"-e", "process.stdout.write('x')"}}};

struct Way {
  const char* name;
  std::function<double()> start;
  std::vector<double> times{};
};

void print(Way& way) {
  std::ranges::sort(way.times);
  const auto at = [&](std::size_t percent) {
    return way.times[(way.times.size() - 1) * percent / 100];
  };
  fmt::print("{:<28} median {:7.0f}  p10 {:7.0f}  p90 {:7.0f}\n", way.name, at(50), at(10), at(90));
}

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::max(1, std::atoi(arguments[1])) : 300;
  auto warden = sandbox::Warden::start(MCPAC_BUILD_DIR "/libexec/mcpac/mcpac-warden");
  if (!warden) {
    fmt::print(stderr, "{}\n", warden.error().to_text());
    return 1;
  }
  std::vector<Way> ways{{"posix_spawn",
                         [] {
                           return by_spawn({kProgram, "hello"});
                         }},
                        {"warden, tier A, kAgent", [&] { return by_warden(*warden); }}};
  for (const Other& other : kOthers) {
    const std::string program = in_path(other.name);
    if (program.empty()) {
      fmt::print("({} is not installed: not compared)\n", other.name);
      continue;
    }
    ways.push_back({other.name, [program, &other] {
                      std::vector<const char*> words{program.c_str()};
                      words.insert(words.end(), other.words.begin(), other.words.end());
                      return by_spawn(words);
                    }});
  }
  for (Way& way : ways) way.start();  // once for the caches
  for (int round = 0; round < rounds; ++round) {
    for (Way& way : ways) way.times.push_back(way.start());
  }
  fmt::print("spawn to first byte of a static C program, {} rounds, microseconds\n", rounds);
  for (Way& way : ways) print(way);
  return 0;
}
