// SPDX-License-Identifier: Apache-2.0

// bench_codegen: how long it takes to turn listings into headers and a lock.
//
// Method: the recorded listings in the folders given (default: tests/codegen/data), repeated under
// new server names until there are 2,700 tools; one warm-up, then the median of seven runs on one
// thread, wall clock.
//
//   bench_codegen [LISTINGS]                     prints the figures
//   bench_codegen --project FOLDER [--once | --tools N] [LISTINGS]
//                                                writes servers/ and mcpac.lock of those tools
//                                                there, for bench/many_tools.py; --once: without
//                                                repeating; --tools: until there are N
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/recorded_listings.h"
#include "codegen/generate.h"
#include "codegen/search.h"
#include "core/file.h"

namespace {

using namespace mcpac;
using namespace mcpac::codegen;

constexpr std::size_t kTools = 2700;
constexpr int kRuns = 7;

std::vector<ServerListing> repeated(const std::vector<ServerListing>& once, std::size_t wanted) {
  std::vector<ServerListing> listings;
  std::size_t tools = 0;
  for (int round = 0; tools < wanted && !once.empty(); ++round) {
    for (ServerListing listing : once) {
      if (round > 0) listing.server += fmt::format("_{}", round);
      tools += listing.tools.size();
      listings.push_back(std::move(listing));
      if (tools >= wanted) break;
    }
  }
  return listings;
}

template <class Work>
double median_ms(Work work) {
  std::vector<double> times;
  for (int run = 0; run <= kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    if (run > 0) times.push_back(time.count());
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

// A project as `mcpac generate` leaves it.
int write_project(const Output& output, const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& [path, text] : output.files) {
    const auto file = folder / "servers" / path;
    std::filesystem::create_directories(file.parent_path(), error);
    if (!write_file_atomic(file, text)) return 1;
  }
  return write_file_atomic(folder / "mcpac.lock", to_text(output.lock)) ? 0 : 1;
}

}  // namespace

int main(int count, char** values) {
  std::vector<std::string> words(values + 1, values + count);
  std::filesystem::path project;
  if (words.size() > 1 && words[0] == "--project") {
    project = words[1];
    words.erase(words.begin(), words.begin() + 2);
  }
  const bool once = std::erase(words, "--once") > 0;
  std::size_t wanted = kTools;
  if (words.size() > 1 && words[0] == "--tools") {
    wanted = std::stoul(words[1]);
    words.erase(words.begin(), words.begin() + 2);
  }
  const std::filesystem::path folder =
      words.empty() ? MCPAC_SOURCE_DIR "/tests/codegen/data" : words[0];
  const auto recorded = bench::recorded_listings(folder);
  if (!recorded) {
    fmt::print(stderr, "{}\n", recorded.error().to_text());
    return 1;
  }
  const auto listings = once ? *recorded : repeated(*recorded, wanted);
  std::size_t tools = 0;
  for (const auto& listing : listings) tools += listing.tools.size();
  const auto output = generate(listings);
  if (!output) return 1;
  if (!project.empty()) return write_project(*output, project);
  std::size_t bytes = 0;
  for (const auto& [path, text] : output->files) bytes += text.size();
  const std::string lock_text = to_text(output->lock);
  fmt::print("{} servers, {} tools, {} KiB of headers, {} KiB of lock\n", listings.size(), tools,
             bytes / 1024, lock_text.size() / 1024);
  fmt::print("generate    {:8.1f} ms\n", median_ms([&] { static_cast<void>(generate(listings)); }));
  fmt::print("write lock  {:8.1f} ms\n",
             median_ms([&] { static_cast<void>(to_text(output->lock)); }));
  fmt::print("read lock   {:8.1f} ms\n",
             median_ms([&] { static_cast<void>(parse_lock(lock_text, "mcpac.lock")); }));
  fmt::print("search      {:8.1f} ms\n",
             median_ms([&] { static_cast<void>(search_tools(output->lock, "create issue")); }));
  return 0;
}
