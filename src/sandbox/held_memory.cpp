// SPDX-License-Identifier: Apache-2.0

#include "sandbox/held_memory.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/file.h"
#include "sandbox/cgroup_leaf.h"

namespace mcpac::sandbox {
namespace {

// "NAME:\t   123" of a status file.
std::optional<std::uint64_t> number_of(std::string_view status, std::string_view label) {
  const auto at = status.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view text = status.substr(at + label.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

// "NAME:\t   123 kB".
std::optional<std::uint64_t> bytes_of(std::string_view status, std::string_view label) {
  const auto kibibytes = number_of(status, label);
  return kibibytes ? std::optional(*kibibytes << 10U) : std::nullopt;
}

// Nothing where the thread has ended, and with it its hold on the memory.
std::optional<Held> held_by(const std::filesystem::path& thread, FilesInMemory files) {
  const auto status = read_file(thread / "status");
  if (!status) return std::nullopt;
  const auto own = bytes_of(*status, "\nRssAnon:");
  if (!own) return std::nullopt;
  const std::uint64_t shared =
      files == FilesInMemory::kCount ? bytes_of(*status, "\nRssShmem:").value_or(0) : 0;
  return Held{.memory = *own + shared + bytes_of(*status, "\nVmSwap:").value_or(0),
              .threads = number_of(*status, "\nThreads:").value_or(0)};
}

// The process and its descendants, as many as a sandbox may have. None loses its parent: those
// would be children of the first.
std::vector<pid_t> with_all_below(pid_t process) {
  std::vector<pid_t> found{process};
  constexpr std::size_t kMost = 4096;
  std::error_code error;
  for (std::size_t i = 0; i < found.size() && found.size() < kMost; ++i) {
    const auto threads = std::filesystem::path("/proc") / std::to_string(found[i]) / "task";
    for (std::filesystem::directory_iterator thread(threads, error), end; !error && thread != end;
         thread.increment(error)) {
      const auto children = read_file(thread->path() / "children");
      if (!children) continue;
      std::istringstream words(*children);
      for (pid_t child = 0; words >> child;) found.push_back(child);
    }
  }
  return found;
}

// Of pages that several processes share each has its part. Nothing where that is not told.
std::optional<std::uint64_t> share_of(pid_t process) {
  const auto rollup = read_file("/proc/" + std::to_string(process) + "/smaps_rollup");
  if (!rollup) return std::nullopt;
  const auto own = bytes_of(*rollup, "\nPss_Anon:");
  if (!own) return std::nullopt;
  return *own + bytes_of(*rollup, "\nPss_Shmem:").value_or(0) +
         bytes_of(*rollup, "\nSwapPss:").value_or(0);
}

}  // namespace

FilesInMemory files_in_memory(const Plan& plan) {
  return plan.admits.has<ReadsFiles>() ? FilesInMemory::kGranted : FilesInMemory::kCount;
}

Held held_by(pid_t process, FilesInMemory files) {
  const std::filesystem::path folder = "/proc/" + std::to_string(process);
  if (const auto held = held_by(folder, files)) return *held;
  // Its first thread has ended, and others go on.
  std::error_code error;
  for (std::filesystem::directory_iterator thread(folder / "task", error), end;
       !error && thread != end; thread.increment(error)) {
    if (const auto held = held_by(thread->path(), files)) return *held;
  }
  return {};
}

std::uint64_t held_by_all_below(pid_t process, std::uint64_t most) {
  const auto all = with_all_below(process);
  std::uint64_t sum = 0;
  for (const pid_t one : all) sum += held_by(one, FilesInMemory::kCount).memory;
  if (sum <= most) return sum;
  std::uint64_t shares = 0;
  for (const pid_t one : all)
    shares += share_of(one).value_or(held_by(one, FilesInMemory::kCount).memory);
  return shares;
}

std::uint64_t threads_of_all_below(pid_t process) {
  std::uint64_t threads = 0;
  for (const pid_t one : with_all_below(process))
    threads += held_by(one, FilesInMemory::kCount).threads;
  return threads;
}

std::uint64_t most_held_memory(const Plan& plan) {
  // RLIMIT_AS is all that a compiler gets.
  if (plan.limits.memory == 0 || plan.admits.has<Compiles>()) return 0;
  return cgroup::group_memory(plan.limits.memory);
}

}  // namespace mcpac::sandbox
