// SPDX-License-Identifier: Apache-2.0

#include "sandbox/cgroup_leaf.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/abandoned.h"
#include "sandbox/cgroup_files.h"

namespace mcpac::sandbox::cgroup {
namespace {

constexpr std::string_view kPrefix = "mcpac-run-";

// What the kernel refuses to know (no swap, an older kernel) limits nothing else.
int set_optional(int group, const char* file, std::string_view value) {
  const int error = write(group, file, value);
  return error == ENOENT ? 0 : error;
}

int set_limits(int group, const Limits& limits) {
  if (limits.memory > 0) {
    const std::string most = std::to_string(group_memory(limits.memory));
    if (const int error = write(group, "memory.max", most)) return error;
    if (const int error = set_optional(group, "memory.swap.max", "0")) return error;
    if (const int error = set_optional(group, "memory.oom.group", "1")) return error;
  }
  if (limits.processes == 0) return 0;
  return write(group, "pids.max", std::to_string(limits.processes));
}

// The kernel says so by POLLPRI when the last one has left.
void wait_until_empty(int group) {
  constexpr int kMostMilliseconds = 100;
  const UniqueFd events(::openat(group, "cgroup.events", O_RDONLY | O_CLOEXEC));
  if (!events || number(group, "cgroup.events", "populated") == 0) return;
  pollfd change{events.get(), POLLPRI, 0};
  ::poll(&change, 1, kMostMilliseconds);
}

// Killing takes the kernel a moment, and one that cannot be killed stays for a later sweep.
void remove_group(int base, const std::string& name) {
  if (::unlinkat(base, name.c_str(), AT_REMOVEDIR) == 0 || errno != EBUSY) return;
  const UniqueFd group = open_folder(base, name);
  if (!group || write(group.get(), "cgroup.kill", "1") != 0) return;
  constexpr int kTries = 3;
  for (int i = 0; i < kTries; ++i) {
    wait_until_empty(group.get());
    if (::unlinkat(base, name.c_str(), AT_REMOVEDIR) == 0) return;
  }
}

}  // namespace

// Room for the stack of its first thread and for what the kernel keeps: page tables, threads,
// buffers of its channel.
std::uint64_t group_memory(std::uint64_t memory) {
  constexpr std::uint64_t kRoom = std::uint64_t{32} << 20U;
  return memory + memory / 16U + kRoom;
}

std::expected<Leaf, int> Leaf::make(int base, std::string name, const Limits& limits) {
  if (::mkdirat(base, name.c_str(), 0755) != 0) return std::unexpected(errno);
  UniqueFd folder = open_folder(base, name);
  if (!folder) return std::unexpected(errno);
  Leaf leaf(std::move(folder), std::move(name));
  if (const int error = set_limits(leaf.folder(), limits)) return std::unexpected(error);
  return leaf;
}

Leaf& Leaf::operator=(Leaf&& other) noexcept {
  if (this == &other) return *this;
  remove();
  folder_ = std::move(other.folder_);
  name_ = std::move(other.name_);
  return *this;
}

Leaf::~Leaf() {
  remove();
}

void Leaf::remove() {
  if (!folder_) return;
  const UniqueFd base = open_folder(folder_.get(), "..");
  if (base) remove_group(base.get(), name_);
  folder_.reset();
}

GroupUse Leaf::use() const {
  GroupUse use;
  use.there = 1;
  const auto count = [this](const char* file, std::string_view key = {}) {
    return number(folder(), file, key).value_or(0);
  };
  use.peak_bytes = count("memory.peak");
  use.full = count("memory.events", "oom");
  use.killed = count("memory.events", "oom_kill");
  use.refused_threads = count("pids.events", "max");
  // Kernels count here what a group above refused, too (up to 6.10, which do not know the peak).
  const auto most_threads = number(folder(), "pids.peak");
  if (most_threads && *most_threads < count("pids.max")) use.refused_threads = 0;
  return use;
}

std::string leaf_name(std::uint64_t number) {
  static const std::string mark = own_mark();
  if (mark.empty()) return {};
  return std::string(kPrefix) + mark + "." + std::to_string(number);
}

void sweep_leaves(int base) {
  for (const std::string& name : abandoned_in(base)) {
    if (name.starts_with(kPrefix)) remove_group(base, name);
  }
}

}  // namespace mcpac::sandbox::cgroup
