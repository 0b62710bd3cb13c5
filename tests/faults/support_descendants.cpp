#include "faults/support_descendants.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

namespace faults {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::optional<Process> process_of(pid_t pid) {
  const fs::path folder = fs::path("/proc") / std::to_string(pid);
  const std::string stat = text_of(folder / "stat");
  const auto open = stat.find('(');
  const auto close = stat.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close + 4 > stat.size())
    return std::nullopt;
  const char state = stat[close + 2];
  if (state == 'Z' || state == 'X') return std::nullopt;
  Process process{
      .pid = pid, .parent = 0, .name = stat.substr(open + 1, close - open - 1), .command = {}};
  process.parent = static_cast<pid_t>(std::stol(stat.substr(close + 4)));
  process.command = text_of(folder / "cmdline");
  std::ranges::replace(process.command, '\0', ' ');
  return process;
}

std::vector<Process> all_processes() {
  std::vector<Process> all;
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    pid_t pid = 0;
    const auto [rest, wrong] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (wrong != std::errc() || rest != name.data() + name.size()) continue;
    if (auto process = process_of(pid)) all.push_back(std::move(*process));
  }
  return all;
}

}  // namespace

void adopt_orphans() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

std::vector<Process> descendants_of(pid_t root) {
  const auto all = all_processes();
  std::vector<Process> found;
  std::set<pid_t> below{root};
  for (bool grew = true; grew;) {
    grew = false;
    for (const Process& process : all) {
      if (!below.contains(process.parent) || !below.insert(process.pid).second) continue;
      found.push_back(process);
      grew = true;
    }
  }
  return found;
}

std::vector<Process> wait_for_all_descendants() {
  const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  for (;;) {
    const pid_t ended = ::waitpid(-1, nullptr, WNOHANG);
    if (ended > 0) continue;
    if (ended < 0 && errno == ECHILD) return {};
    if (std::chrono::steady_clock::now() > patience) return descendants_of(::getpid());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace faults
