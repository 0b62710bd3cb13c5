// SPDX-License-Identifier: Apache-2.0

// Spawn to first byte: what the sandbox costs on top of starting the same static program bare.
//
// Method: the ways are interleaved (one start of each a round, so that a busy machine hurts all
// alike), time runs from the call that starts the program to the first byte of its standard output
// in the parent. Printed: median, 10th and 90th percentile in microseconds. Usage: bench_sandbox
// [ROUNDS].
#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "bench/first_byte.h"
#include "sandbox/sandbox.h"

namespace {

using namespace mcpac;
using namespace mcpac::bench;

const char* const kProgram = kHello.front();

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
  const double time = microseconds_since(start);
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

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::max(1, std::atoi(arguments[1])) : 300;
  auto warden = sandbox::Warden::start(MCPAC_BUILD_DIR "/libexec/mcpac/mcpac-warden");
  if (!warden) {
    fmt::print(stderr, "{}\n", warden.error().to_text());
    return 1;
  }
  std::vector<Way> ways{{"posix_spawn", [] { return by_spawn(kHello); }},
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
  for (const Way& way : ways) print_times(way.name, way.times);
  return 0;
}
