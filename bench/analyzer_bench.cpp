// SPDX-License-Identifier: Apache-2.0

// What one analysis costs: the whole worker process, from start to report, without the sandbox.
//
// Method: headers are the samples of tests/templates/headers with templates/mcpac, precompiled once
// from mcpac/warm.hpp as `mcpac execute` does it. Each program is analysed 20 times after one
// warm-up; printed are the medians of wall clock and of processor time (user + system) of the
// child. Two further rows are the floor: a worker that only refuses a request, and clang
// -fsyntax-only over the same program and precompiled header.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/report.h"
#include "core/file.h"
#include "core/json.h"

namespace {

namespace fs = std::filesystem;
using namespace mcpac;

constexpr int kRounds = 20;
constexpr const char* kDriver = "/usr/lib/llvm-19/bin/clang++";
constexpr const char* kFlags = "--no-default-config -std=c++23 -stdlib=libc++ -O0";

constexpr const char* kShort = R"(#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {
  rt.filesystem.read_text_file({.path = "a"});
  return 0;
}
)";

constexpr const char* kTypical = R"(#include <mcpac.hpp>
#include <map>
#include <print>
using namespace mcp;

std::string head_of(mcpac::Requires<filesystem::read_text_file> rt, const std::string& path) {
  return rt.filesystem.read_text_file({.path = path, .head = 5}).text();
}

int agent_main(mcpac::Requires<filesystem::read_text_file, filesystem::list_directory,
                               filesystem::write_file> rt) {
  std::map<std::string, std::size_t> sizes;
  for (const auto& entry : rt.filesystem.list_directory({.path = "./data"}).lines()) {
    if (!entry.starts_with("[FILE] ")) continue;
    const std::string name = "./data/" + entry.substr(7);
    sizes[name] = head_of(rt, name).size();
  }
  std::string summary;
  for (const auto& [name, size] : sizes) summary += std::format("{}: {}\n", name, size);
  const auto written = rt.filesystem.write_file.try_call({.path = "./summary.txt", .content = summary});
  if (!written) {
    std::println("cannot write: {}", written.error().what());
    return 1;
  }
  std::println("{} files", sizes.size());
  return 0;
}
)";

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double children_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

void measure(const std::string& name, const std::string& command, int expected = 0) {
  std::vector<double> wall;
  std::vector<double> cpu;
  for (int round = 0; round <= kRounds; ++round) {
    const double before = children_seconds();
    const auto start = std::chrono::steady_clock::now();
    const int status = std::system(command.c_str());
    if (!WIFEXITED(status) || WEXITSTATUS(status) != expected) std::exit(1);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (round == 0) continue;
    wall.push_back(took.count() * 1e3);
    cpu.push_back((children_seconds() - before) * 1e3);
  }
  std::ranges::sort(wall);
  std::ranges::sort(cpu);
  fmt::print("{:<44} {:>8.1f} ms wall {:>8.1f} ms cpu\n", name, wall[kRounds / 2],
             cpu[kRounds / 2]);
}

std::string quoted_request(const fs::path& folder, const fs::path& source) {
  analyzer::Request request;
  request.file = source.filename().string();
  request.source_path = source.string();
  request.headers_dir = (folder / "headers").string();
  request.arguments = {"--no-default-config",
                       "-std=c++23",
                       "-stdlib=libc++",
                       "-O0",
                       "-isystem" + request.headers_dir,
                       "-include-pch",
                       (folder / "agent.pch").string(),
                       "-xc++"};
  for (const char* tool : {"read_text_file", "list_directory", "write_file"})
    request.permissions[fmt::format("mcp::filesystem::{}", tool)] =
        fmt::format("filesystem.{}", tool);
  return to_text(to_json(request));
}

void measure_program(const fs::path& folder, const std::string& name, const std::string& source) {
  const fs::path file = folder / (name + ".cpp");
  const fs::path request = folder / (name + ".json");
  if (!write_file_atomic(file, source) || !write_file_atomic(request, quoted_request(folder, file)))
    std::exit(1);
  const std::string worker = MCPAC_BUILD_DIR "/libexec/mcpac/mcpac-analyzer";
  measure(name + ": worker", fmt::format("{} < {} > /dev/null", worker, request.string()));
  measure(name + ": clang -fsyntax-only",
          fmt::format("{} {} -isystem{}/headers -include-pch {}/agent.pch -fsyntax-only {}",
                      kDriver, kFlags, folder.string(), folder.string(), file.string()));
}

}  // namespace

int main() {
  auto folder = TemporaryFolder::create(fs::temp_directory_path(), "mcpac-bench-");
  if (!folder) return 1;
  const fs::path root = folder->path();
  const fs::path source = MCPAC_SOURCE_DIR;
  fs::copy(source / "tests/templates/headers", root / "headers");
  fs::copy(source / "templates/mcpac", root / "headers/mcpac");
  fs::copy_file(source / "tests/templates/headers/mcpac/lock.hpp", root / "headers/mcpac/lock.hpp");
  // As src/toolchain/precompile does it: the runtime, and the servers chained to it.
  const std::string runtime = fmt::format(
      "{0} {1} -isystem{2}/headers -fpch-instantiate-templates -fpch-codegen -xc++-header "
      "{2}/headers/mcpac/warm.hpp -o {2}/runtime.pch",
      kDriver, kFlags, root.string());
  const std::string servers = fmt::format(
      "{0} {1} -isystem{2}/headers -include-pch {2}/runtime.pch -fpch-instantiate-templates "
      "-xc++-header {2}/headers/mcpac.hpp -o {2}/agent.pch",
      kDriver, kFlags, root.string());
  if (std::system(runtime.c_str()) != 0 || std::system(servers.c_str()) != 0) return 1;
  measure("a process that refuses its request",
          "echo '{}' | " MCPAC_BUILD_DIR "/libexec/mcpac/mcpac-analyzer > /dev/null", 65);
  measure_program(root, "short", kShort);
  measure_program(root, "typical", kTypical);
}
