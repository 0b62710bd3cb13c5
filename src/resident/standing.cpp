// SPDX-License-Identifier: Apache-2.0

#include "resident/standing.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

namespace mcpac::resident {
namespace {

#ifndef SO_PEERPIDFD
constexpr int SO_PEERPIDFD = 77;  // Linux 6.5
#endif

constexpr std::size_t kMaxText = std::size_t{64} << 10U;

UniqueFd open_process(pid_t number) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, number, 0)));
}

std::optional<std::string> text_at(int folder, const char* name) {
  const UniqueFd file(::openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return std::nullopt;
  // Four calls a file and no more: all clients wait for this, and there are 16 of them.
  std::array<char, kMaxText> text;
  std::size_t size = 0;
  while (true) {
    const ssize_t n = ::read(file.get(), text.data() + size, text.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::nullopt;
    if (n == 0) break;
    size += static_cast<std::size_t>(n);
    if (size == text.size()) return std::nullopt;
  }
  return std::string(text.data(), size);
}

std::optional<std::string> link_at(int folder, const char* name) {
  std::array<char, 256> text{};
  const ssize_t n = ::readlinkat(folder, name, text.data(), text.size());
  if (n <= 0 || n == static_cast<ssize_t>(text.size())) return std::nullopt;
  return std::string(text.data(), static_cast<std::size_t>(n));
}

// Kernels without one of these have no such namespace: absent at both ends, or a difference.
bool add_namespaces(int folder, Standing& standing) {
  const UniqueFd namespaces(::openat(folder, "ns", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const char* name : {"mnt", "net", "user", "pid", "pid_for_children", "ipc", "uts", "cgroup",
                           "time", "time_for_children"}) {
    auto text = link_at(namespaces.get(), name);
    if (!text && errno != ENOENT) return false;
    if (text) standing.emplace(fmt::format("{} namespace", name), std::move(*text));
  }
  return standing.contains("mnt namespace") && standing.contains("user namespace");
}

// "Name:\tvalue" lines of /proc/PID/status that say what the process may.
bool add_status(int folder, Standing& standing) {
  constexpr std::array<std::string_view, 13> kParts = {
      "Uid",    "Gid",        "Groups",  "CapInh",          "CapPrm",       "CapEff",      "CapBnd",
      "CapAmb", "NoNewPrivs", "Seccomp", "Seccomp_filters", "Cpus_allowed", "Mems_allowed"};
  const auto text = text_at(folder, "status");
  if (!text) return false;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto name = line.substr(0, colon);
    if (std::ranges::find(kParts, name) != kParts.end())
      standing.emplace(name, line.substr(colon + 1));
  }
  return standing.contains("Uid") && standing.contains("NoNewPrivs") &&
         standing.contains("Seccomp");
}

// Fields 19 (nice), 40 and 41 (real-time priority, scheduling policy) of /proc/PID/stat.
bool add_schedule(int folder, Standing& standing) {
  const auto text = text_at(folder, "stat");
  const auto name_end = text ? text->rfind(") ") : std::string::npos;
  if (name_end == std::string::npos) return false;
  std::string_view rest = std::string_view(*text).substr(name_end + 2);
  std::string found;
  for (int field = 3; field <= 41; ++field) {
    const auto value = rest.substr(0, rest.find(' '));
    if (value.empty()) return false;
    if (field == 19 || field >= 40) found += fmt::format("{} ", value);
    rest.remove_prefix(std::min(rest.size(), value.size() + 1));
  }
  standing.emplace("schedule", std::move(found));
  return true;
}

bool add_texts(int folder, Standing& standing) {
  for (const char* name : {"cgroup", "limits", "oom_score_adj", "personality"}) {
    auto text = text_at(folder, name);
    if (!text) return false;
    standing.emplace(name, std::move(*text));
  }
  // Without a security module that labels processes, reading this is an error (EINVAL); without
  // auditing there is no login.
  standing.emplace("label", text_at(folder, "attr/current").value_or(""));
  standing.emplace("login", text_at(folder, "loginuid").value_or(""));
  return true;
}

// Which folder, and through which mount: a bind of "/" is the same folder, and what lies on the
// mounts below it is not. Only the kernel is asked for it: the root may lie on a file system
// of its user (FUSE) that never answers.
bool add_root(int folder, Standing& standing) {
  auto path = link_at(folder, "root");
  struct statx info {};
  constexpr unsigned kWanted = STATX_INO | STATX_MNT_ID;
  const bool is_told = path && ::statx(folder, "root", AT_STATX_DONT_SYNC, kWanted, &info) == 0 &&
                       (info.stx_mask & kWanted) == kWanted;
  if (!is_told) return false;
  standing.emplace("root", fmt::format("{} {}:{}:{} {}", *path, info.stx_dev_major,
                                       info.stx_dev_minor, info.stx_ino, info.stx_mnt_id));
  return true;
}

// The cheap ones first, and what could make us wait last: a process that differs in one is asked no
// more.
using AddPart = bool (*)(int folder, Standing& standing);
constexpr std::array<AddPart, 5> kParts = {add_namespaces, add_status, add_schedule, add_texts,
                                           add_root};

UniqueFd open_folder(const Process& process) {
  const std::string path = fmt::format("/proc/{}", process.number());
  return UniqueFd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
}

std::optional<std::string> stands_alone(const Standing& standing) {
  const auto has_only_zeros = [&](const char* name) {
    const auto found = standing.find(name);
    return found != standing.end() && found->second.find_first_not_of("\t 0") == std::string::npos;
  };
  if (!has_only_zeros("NoNewPrivs")) return "NoNewPrivs";
  // Filters that are not counted (before Linux 5.9) cannot be compared.
  if (!has_only_zeros("Seccomp") && !standing.contains("Seccomp_filters")) return "Seccomp";
  return std::nullopt;
}

std::optional<std::string> first_other(const Standing& ours, const Standing& theirs) {
  for (const auto& [name, value] : ours) {
    const auto found = theirs.find(name);
    if (found == theirs.end() || found->second != value) return name;
  }
  for (const auto& [name, value] : theirs) {
    if (!ours.contains(name)) return name;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Process> Process::of(pid_t number) {
  if (number <= 0) return std::nullopt;
  auto handle = open_process(number);
  if (!handle) return std::nullopt;
  return Process(number, std::move(handle));
}

std::optional<Process> Process::peer_of(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != ::geteuid() ||
      peer.pid <= 0)
    return std::nullopt;
  int handle = -1;
  size = sizeof handle;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &handle, &size) == 0)
    return Process(peer.pid, UniqueFd(handle));
  // An older kernel: the number may mean another process by now. The client sees that by the sender
  // of the messages that come after this.
  return of(peer.pid);
}

bool Process::is_alive() const {
  pollfd ended{handle_.get(), POLLIN, 0};
  return ::poll(&ended, 1, 0) == 0;
}

bool Process::signal(int signal) const {
  return ::syscall(SYS_pidfd_send_signal, handle_.get(), signal, nullptr, 0) == 0;
}

std::optional<Standing> standing_of(const Process& process) {
  const UniqueFd folder = open_folder(process);
  Standing standing;
  if (!folder ||
      !std::ranges::all_of(kParts, [&](AddPart add) { return add(folder.get(), standing); }))
    return std::nullopt;
  // The folder is one process's for good; it is the one that is meant if that one still lives.
  if (!process.is_alive()) return std::nullopt;
  return standing;
}

std::optional<std::string> difference(const Standing& ours, const Standing& theirs) {
  for (const Standing* one : {&ours, &theirs}) {
    if (auto why = stands_alone(*one)) return why;
  }
  return first_other(ours, theirs);
}

std::optional<std::string> why_apart(const Process& ours, const Process& theirs) {
  constexpr const char* kHidden = "the kernel does not say what confines it";
  const UniqueFd our_folder = open_folder(ours);
  const UniqueFd their_folder = open_folder(theirs);
  if (!our_folder || !their_folder) return kHidden;
  for (const AddPart add : kParts) {
    Standing our_part;
    Standing their_part;
    if (!add(our_folder.get(), our_part) || !add(their_folder.get(), their_part)) return kHidden;
    auto other =
        add == add_status ? difference(our_part, their_part) : first_other(our_part, their_part);
    if (other) return fmt::format("other conditions: {}", *other);
  }
  if (!ours.is_alive() || !theirs.is_alive()) return "it has ended";
  return std::nullopt;
}

std::optional<std::string> why_apart_from_us(const Process& theirs) {
  const auto self = Process::of(::getpid());
  return self ? why_apart(*self, theirs) : "this process cannot be watched";
}

}  // namespace mcpac::resident
