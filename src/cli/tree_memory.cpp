// SPDX-License-Identifier: Apache-2.0

#include "cli/tree_memory.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "resident/worker_process.h"

namespace mcpac::cli {
namespace {

namespace fs = std::filesystem;

// "Pss:                1234 kB" in a file that begins with an address range.
std::optional<std::uint64_t> share_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/smaps_rollup", process));
  std::string word;
  while (file >> word) {
    std::uint64_t kibibytes = 0;
    if (word == "Pss:" && file >> kibibytes) return kibibytes << 10U;
  }
  return std::nullopt;
}

// Behind the name, which may have blanks and brackets: ") S PARENT".
pid_t parent_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string line;
  if (!std::getline(file, line)) return 0;
  const auto name_ends = line.rfind(')');
  if (name_ends == std::string::npos || name_ends + 4 > line.size()) return 0;
  pid_t parent = 0;
  std::from_chars(line.data() + name_ends + 4, line.data() + line.size(), parent);
  return parent;
}

std::map<pid_t, std::vector<pid_t>> children_of_all() {
  std::map<pid_t, std::vector<pid_t>> children;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    pid_t process = 0;
    const auto [rest, wrong] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (wrong != std::errc{} || rest != name.data() + name.size()) continue;
    children[parent_of(process)].push_back(process);
  }
  return children;
}

}  // namespace

std::uint64_t tree_memory(pid_t process) {
  const auto children = children_of_all();
  std::uint64_t bytes = 0;
  std::vector<pid_t> waiting{process};
  while (!waiting.empty()) {
    const pid_t next = waiting.back();
    waiting.pop_back();
    const auto share = share_of(next);
    bytes += share ? *share : resident::memory_of(next);
    const auto below = children.find(next);
    if (below != children.end())
      waiting.insert(waiting.end(), below->second.begin(), below->second.end());
  }
  return bytes;
}

}  // namespace mcpac::cli
